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

  public init() {}

  /// The same conditions for the store, wider for a box with a pole or the antimeridian: what they leave out, ``selects(_:)-(FenceRecord)``
  /// does too.
  /// - Parameter sessions: The ids of the only sessions; empty for all.
  public func conditions(sessions: Set<Int64> = []) -> FenceConditions {
    var conditions = FenceConditions()
    (conditions.sessions, conditions.links, conditions.from, conditions.to) = (sessions, links, from, to)
    (conditions.latitudes, conditions.longitudes) = (box?.latitudes, box?.longitudes)
    conditions.technologies = Set(
      Technology.knownNames.filter { name in technologies.contains { $0.matches(Technology(name)) } })
    return conditions
  }

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

/// A box on the ground, as `--bbox` gives it: `WEST,SOUTH,EAST,NORTH` in degrees, as in RFC 7946, 5.
public struct SearchBox: Hashable, Sendable {
  private let west: Double
  private let south: Double
  private let east: Double
  private let north: Double

  /// `nil` unless the text has four numbers in their ranges, and south is not above north. Spaces are ignored. West
  /// may be greater than east: such a box lies across the antimeridian.
  public init?(_ text: String) {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map {
      Double($0.filter { $0 != " " })
    }
    guard parts.count == 4, let west = parts[0], let south = parts[1], let east = parts[2], let north = parts[3],
      Coordinate(latitude: south, longitude: west) != nil, Coordinate(latitude: north, longitude: east) != nil,
      south <= north
    else { return nil }
    (self.west, self.south, self.east, self.north) = (west, south, east, north)
  }

  var edges: [Double] { [west, south, east, north] }

  /// Half a unit of the last digit, to which ``contains(_:)`` rounds; a bit more.
  private static let slack = 1e-7

  var latitudes: ClosedRange<Double> { south - Self.slack...north + Self.slack }

  /// `nil` where one meridian has two longitudes, or a place all of them.
  var longitudes: ClosedRange<Double>? {
    south > -90 && north < 90 && west > -180 && east < 180 && west <= east
      ? west - Self.slack...east + Self.slack : nil
  }

  /// Whether `place`, with the digits that exports have, is inside or on the edge. The longitudes 180 and -180 are the same place; at a pole, all of them are.
  func contains(_ place: Coordinate) -> Bool {
    let (latitude, longitude) = ((place.latitude * 1e7).rounded() / 1e7, (place.longitude * 1e7).rounded() / 1e7)
    guard (south...north).contains(latitude) else { return false }
    if abs(latitude) == 90 { return true }
    let longitudes = abs(longitude) == 180 ? [-180, 180] : [longitude]
    return longitudes.contains { west <= east ? (west...east).contains($0) : $0 >= west || $0 <= east }
  }
}

/// A technology as the user names it: `4G/LTE`, or a generation (`2G`, `3G`, `4G`, `5G`, `5G NSA`, `5G SA`, `none`).
public enum TechnologyPattern: Hashable, Sendable {
  /// The name on the wire, in its own spelling.
  case name(String)
  /// One of these generations; `5G` is two of them.
  case generations([Technology.Generation])

  /// `nil` for text that is neither the name of a technology nor of a generation. Upper and lower case are the same.
  public init?(_ text: String) {
    let wanted = text.lowercased()
    if wanted == "5g" {
      self = .generations([.fiveNonStandalone, .fiveStandalone])
    } else if let generation = Technology.Generation.allCases.first(where: { $0.rawValue.lowercased() == wanted }) {
      self = .generations([generation])
    } else if let name = Technology.knownNames.first(where: { $0.lowercased() == wanted }) {
      self = .name(name)
    } else {
      return nil
    }
  }

  /// The pattern as ``init(_:)`` reads it.
  var text: String {
    switch self {
    case .name(let name): name
    case .generations(let generations): generations.count > 1 ? "5G" : generations.first?.rawValue ?? ""
    }
  }

  /// Whether the pattern selects a fence with this technology; `nil` (no technology was seen in the fence) matches `none`
  /// only.
  func matches(_ technology: Technology?) -> Bool {
    let technology = technology ?? .none
    return switch self {
    case .name(let name): technology.name == name
    case .generations(let generations): technology.generation.map(generations.contains) ?? false
    }
  }
}
