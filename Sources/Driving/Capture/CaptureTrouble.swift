/// Why a capture is incomplete, reported once when the trouble begins and once when it ends. A pure value.
struct CaptureTrouble: Hashable, Sendable {
  /// How many times trouble began.
  private(set) var count = 0
  private(set) var current: String?

  /// - Parameter reason: The present trouble; `nil` for none.
  /// - Returns: A line for the log, if the trouble has changed.
  mutating func note(_ reason: String?) -> String? {
    guard reason != current else { return nil }
    current = reason
    guard let reason else { return "the packet capture works again; packets in between are missing" }
    count += 1
    return "the packet capture failed: \(reason); the drive goes on, the capture is incomplete"
  }
}
