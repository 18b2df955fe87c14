import Coverage
import Store

/// Which fences, positions and speed tests to export or report: all conditions must hold. A condition that is `nil` or empty
/// holds for all.
public struct FenceFilter: Hashable, Sendable {
  /// Fences that began at this time or later.
  public var from: WallTime?
  /// Fences that began before this time.
  public var to: WallTime?
  /// Fences whose centre is inside.
  public var box: SearchBox?
  /// Fences with one of these technologies.
  public var technologies: [TechnologyPattern] = []
  /// Fences of the links with these names.
  public var links: Set<String> = []

  /// A filter that selects everything.
  public init() {}

  /// Whether the fence of `record` is to be exported. A replayed fence has no wall time, and meets no condition on it.
  public func selects(_ record: FenceRecord) -> Bool {
    selects(record.enteredAt) && box?.contains(record.fence.centre) ?? true
      && (technologies.isEmpty || technologies.contains { $0.matches(record.fence.technology) })
      && (links.isEmpty || record.link.map(links.contains) ?? false)
  }

  /// Whether a speed test is to be exported. With a box, a test without a place is left out; with links, every test, because
  /// no test belongs to a link.
  public func selects(_ test: StoredSpeedTest) -> Bool {
    selects(test.started) && box.map { box in test.place.map(box.contains) ?? false } ?? true
      && (technologies.isEmpty || technologies.contains { $0.matches(test.technology) }) && links.isEmpty
  }

  /// Whether a fence, a test or a position of this time is to be exported; without a time, only if no time is asked for.
  func selects(_ time: WallTime?) -> Bool {
    guard from != nil || to != nil else { return true }
    guard let time else { return false }
    return from.map { $0 <= time } ?? true && to.map { time < $0 } ?? true
  }
}
