/// The last seconds of one link, oldest first.
struct DelayTrail: Hashable, Sendable {
  /// More than the widest terminals show.
  static let longest = 300

  private(set) var seconds: [PanelSecond] = []

  /// Adds the newest second, and drops the oldest ones beyond ``longest``.
  mutating func add(_ second: PanelSecond) {
    seconds.append(second)
    if seconds.count > Self.longest { seconds.removeFirst(seconds.count - Self.longest) }
  }
}
