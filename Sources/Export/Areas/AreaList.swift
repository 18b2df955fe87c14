import Coverage
import Foundation

/// The user's own areas, such as city, road and rail: polygons of a GeoJSON file (RFC 7946), each with a category. A place belongs to the
/// first area that contains it.
public struct AreaList: Sendable {
  /// Why a file of areas cannot be used, in one line.
  public struct Failure: Error, Hashable, CustomStringConvertible {
    public let description: String
  }

  private let areas: [(name: String, polygon: AreaPolygon)]
  /// The categories in the order of the file, then ``elsewhere``.
  let names: [String]

  /// The name for places in no area.
  static let elsewhere = "elsewhere"
  /// The most categories, polygons and positions of a file: each fence is compared with all polygons, and with the positions of those whose
  /// box contains it.
  static let most = (categories: 50, polygons: 100_000, positions: 500_000)
  /// The longest name in scalars.
  static let longestName = 60

  /// Reads a FeatureCollection, or one Feature, whose geometries are Polygons and MultiPolygons. The category is the text of the property
  /// `category`, else of `name`.
  /// - Parameter path: The name of the file, for the reason.
  /// - Throws: ``Failure``
  public init(geoJSON: Data, path: String) throws(Failure) {
    do { try self.init(geoJSON) } catch { throw Failure(description: "\(path): \(error)") }
  }

  init(_ geoJSON: Data) throws(Failure) {
    let root: AreaFeature
    do {
      root = try JSONDecoder().decode(AreaFeature.self, from: geoJSON)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure(description: Self.reason(error))
    }
    let features = root.type == "FeatureCollection" ? root.features ?? [] : [root]
    var (areas, names, positions): ([(name: String, polygon: AreaPolygon)], AreaNames, Int) = ([], AreaNames(), 0)
    for (index, feature) in features.enumerated() {
      func fail(_ reason: String) -> Failure { Failure(description: "feature \(index + 1) \(reason)") }
      guard feature.type == "Feature" else {
        throw fail("is a \(ForeignText.clean(feature.type, limit: 40)): a Feature is needed")
      }
      guard let geometry = feature.geometry else { continue }
      guard let polygons = geometry.polygons else {
        throw fail(
          "is a \(ForeignText.clean(geometry.type, limit: 40)): areas are Polygons or MultiPolygons; make lines to polygons with a buffer"
        )
      }
      guard let text = feature.properties?.name else { throw fail("has no text in its property `category` or `name`") }
      let name = names.name(text)
      guard name != Self.elsewhere else {
        throw fail("is called `\(Self.elsewhere)`, the name for places in no area: rename it")
      }
      for rings in polygons {
        positions += rings.reduce(0) { $0 + $1.count }
        guard let polygon = AreaPolygon(rings) else {
          throw fail(
            "has a ring of fewer than four positions, or a position outside of longitude -180 to 180 and latitude -90 to 90: WGS 84 degrees are needed"
          )
        }
        areas.append((name, polygon))
      }
      guard names.all.count <= Self.most.categories, areas.count <= Self.most.polygons, positions <= Self.most.positions
      else {
        throw Failure(
          description:
            "more than \(Self.most.categories) categories, \(Self.most.polygons) polygons or \(Self.most.positions) positions"
        )
      }
    }
    guard !areas.isEmpty else { throw Failure(description: "it has no Polygon and no MultiPolygon") }
    (self.areas, self.names) = (areas, names.all + [Self.elsewhere])
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "it cannot be read as GeoJSON" }
    switch error {
    case .keyNotFound, .typeMismatch, .valueNotFound:
      return "it is no GeoJSON: expected a FeatureCollection of polygons"
    default: return "it is no JSON"
    }
  }

  /// The category of the first area that contains `place`, else ``elsewhere``.
  func name(of place: Coordinate) -> String { areas.first { $0.polygon.contains(place) }?.name ?? Self.elsewhere }
}

/// The names of areas, each short enough for a table. Different texts have different names, also when they begin alike.
private struct AreaNames {
  /// In the order in which they came.
  private(set) var all: [String] = []
  private var known: [String: String] = [:]

  static func short(_ text: String) -> String {
    ForeignText.clean(text, limit: AreaList.longestName).trimmingCharacters(in: .whitespaces)
  }

  /// The name of a text that is not blank.
  mutating func name(_ text: String) -> String {
    if let name = known[text] { return name }
    let short = Self.short(text)
    var (name, number) = (short, 1)
    while all.contains(name), text.unicodeScalars.count > AreaList.longestName {
      number += 1
      name = "\(short) (\(number))"
    }
    known[text] = name
    if !all.contains(name) { all.append(name) }
    return name
  }
}

/// A polygon with holes on the plane of longitudes and latitudes, as RFC 7946 draws it: edges are straight there.
struct AreaPolygon: Sendable {
  private struct Ring: Sendable {
    var longitudes: [Double]
    let latitudes: [Double]
  }

  /// The outer ring and the holes.
  private let rings: [Ring]
  private let box: (west: Double, east: Double, south: Double, north: Double)

  /// Longitudes of a ring go on beyond 180 degrees: an edge of more than 180 degrees, but not a whole turn, leads the shorter way round.
  /// - Parameter rings: Longitude and latitude of each position; the outer ring first. The last position of a ring may be the first again.
  /// - Returns: `nil` without a ring, for a ring of fewer than four positions, and for a place that is not on Earth.
  init?(_ rings: [[[Double]]]) {
    var read: [Ring] = []
    for positions in rings {
      guard let ring = Self.ring(positions) else { return nil }
      read.append(ring)
    }
    guard let outer = read.first, let west = outer.longitudes.min(), let east = outer.longitudes.max(),
      let south = outer.latitudes.min(), let north = outer.latitudes.max()
    else { return nil }
    // A hole can begin on the other side of the antimeridian.
    for place in read.indices.dropFirst() {
      let first = read[place].longitudes[0]
      let turn = first < west ? 360.0 : first > east ? -360 : 0
      if turn != 0 { read[place].longitudes = read[place].longitudes.map { $0 + turn } }
    }
    (self.rings, box) = (read, (west, east, south, north))
  }

  private static func ring(_ positions: [[Double]]) -> Ring? {
    var (longitudes, latitudes): ([Double], [Double]) = ([], [])
    for position in positions {
      guard position.count >= 2, Coordinate(latitude: position[1], longitude: position[0]) != nil else { return nil }
      var longitude = position[0]
      if let last = longitudes.last, let before = positions[longitudes.count - 1].first, abs(longitude - before) != 360
      {
        longitude = last + remainder(longitude - last, 360)
      }
      longitudes.append(longitude)
      latitudes.append(position[1])
    }
    guard longitudes.count >= 4 else { return nil }
    return Ring(longitudes: longitudes, latitudes: latitudes)
  }

  /// Whether `place` is inside of the outer ring and of no hole. A place on an edge is in one of two areas that share the edge.
  func contains(_ place: Coordinate) -> Bool {
    guard (box.south...box.north).contains(place.latitude) else { return false }
    return [0.0, 360, -360].contains { turn in
      let longitude = place.longitude + turn
      guard (box.west...box.east).contains(longitude) else { return false }
      return rings.reduce(false) { $0 != Self.contains($1, longitude, place.latitude) }
    }
  }

  /// By the number of edges that a line eastwards meets.
  private static func contains(_ ring: Ring, _ longitude: Double, _ latitude: Double) -> Bool {
    var (isInside, before) = (false, ring.latitudes.count - 1)
    for corner in ring.latitudes.indices {
      let (one, other) = (ring.latitudes[before], ring.latitudes[corner])
      if (one > latitude) != (other > latitude) {
        let share = (latitude - one) / (other - one)
        if longitude < ring.longitudes[before] + share * (ring.longitudes[corner] - ring.longitudes[before]) {
          isInside.toggle()
        }
      }
      before = corner
    }
    return isInside
  }
}

/// A Feature, or a FeatureCollection, as far as areas need it.
private struct AreaFeature: Decodable {
  let type: String
  let features: [AreaFeature]?
  let properties: Properties?
  let geometry: Geometry?

  struct Properties: Decodable {
    let name: String?

    private enum Key: String, CodingKey {
      case category, name
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      // Other files have numbers, nothing or blanks there.
      name = [Key.category, .name].lazy.compactMap { try? values.decode(String.self, forKey: $0) }
        .first { !AreaNames.short($0).isEmpty }
    }
  }

  struct Geometry: Decodable {
    let type: String
    /// `nil` for another geometry.
    let polygons: [[[[Double]]]]?

    private enum Key: String, CodingKey {
      case type, coordinates
    }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      type = try values.decode(String.self, forKey: .type)
      polygons =
        switch type {
        case "Polygon": [try values.decode([[[Double]]].self, forKey: .coordinates)]
        case "MultiPolygon": try values.decode([[[[Double]]]].self, forKey: .coordinates)
        default: nil
        }
    }
  }
}
