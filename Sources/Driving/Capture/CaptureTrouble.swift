/// What keeps a capture from being complete, said once when it begins and once when it ends. A pure value.
struct CaptureTrouble: Hashable, Sendable {
  /// How often something went wrong.
  private(set) var count = 0
  private(set) var current: String?

  /// - Parameter reason: What is wrong just now; `nil` when all is well.
  /// - Returns: A line for the person who watches, if there is anything new.
  mutating func note(_ reason: String?) -> String? {
    guard reason != current else { return nil }
    current = reason
    guard let reason else { return "the packet capture goes on; packets may be missing in it" }
    count += 1
    return "the packet capture is in trouble: \(reason); the measuring goes on"
  }
}
