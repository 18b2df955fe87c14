/// The satellites of a receiver, from a SKY report.
public struct Satellites: Hashable, Sendable {
  /// In view, from 0 to 1000.
  public let seen: Int
  /// Used for the position, at most ``seen``.
  public let used: Int

  /// `nil` when the numbers are impossible.
  public init?(seen: Int, used: Int) {
    guard (0...1000).contains(seen), (0...seen).contains(used) else { return nil }
    (self.seen, self.used) = (seen, used)
  }

  /// `nil` for a report without satellites: a receiver can send dilutions alone. Releases before 3.20 list the satellites and do not count them.
  init?(_ object: JSONObject) {
    if let seen = object.integer("nSat"), let used = object.integer("uSat") {
      self.init(seen: seen, used: used)
    } else {
      let list = object.objects("satellites")
      guard !list.isEmpty else { return nil }
      self.init(seen: list.count, used: list.count { $0.bool("used") == true })
    }
  }
}
