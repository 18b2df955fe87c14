import Coverage
import Store

/// Neighbouring fences without a gap along about half a kilometre: a place to look at on the map.
struct Stretch: Sendable {
  let began: WallTime
  /// The name of its link; `nil` in a drive over one link.
  let link: String?
  /// Its fences; at most ``most``.
  private(set) var fences: [Fence] = []
  /// The distance between their centres, in metres.
  private(set) var metres = 0.0
  /// The pings of its fences.
  private(set) var sums = PingSums()

  /// The distance of a stretch, in metres.
  static let length = 500.0
  /// The most fences: a device that stands still does not get on.
  static let most = 200
  /// The delay as which a lost ping counts, in nanoseconds: without it, a place without any answer would look the best.
  static let lostNanoseconds = 1e9

  init(_ fence: StoredFence) {
    began = fence.session.driveStarted + fence.fence.entered
    link = fence.session.link
    add(fence.fence, metres: 0)
  }

  mutating func add(_ fence: Fence, metres: Double) {
    fences.append(fence)
    self.metres += metres
    sums.add(fence)
  }

  /// The mean delay of all pings, a lost one counted as a second, in nanoseconds; 0 without pings. The higher, the worse.
  var score: Double {
    sums.pings > 0
      ? (Double(sums.nanoseconds) + Double(sums.lost) * Self.lostNanoseconds) / Double(sums.pings) : 0
  }

  /// Whether it is about as long as ``length``, within a quarter.
  var isLong: Bool { abs(metres - Self.length) <= Self.length / 4 }

  /// Whether the next fence begins another stretch: without it, the length is nearer to ``length``.
  /// - Parameter step: The metres to the next fence.
  func isFull(before step: Double) -> Bool {
    metres + step / 2 > Self.length || fences.count >= Self.most
  }
}
