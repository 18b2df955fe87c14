import Coverage
import OrderedJSON
import Store

/// The map library and the ground of a map page.
public struct MapOptions: Hashable, Sendable {
  /// The folder with Leaflet's files.
  let leaflet: String
  /// The tiles of a base map; `nil`: none, and the page makes no request.
  public let tiles: TileSource?
  /// The user's own base map, not with ``tiles``; `nil`: none.
  public let basemap: Basemap?

  /// - Parameter leaflet: By default the folder of Debian's package.
  public init(
    leaflet: String = "/usr/share/javascript/leaflet", tiles: TileSource? = nil, basemap: Basemap? = nil
  ) {
    (self.leaflet, self.tiles, self.basemap) = (leaflet, tiles, basemap)
  }
}

/// A server of map tiles, by the address of a tile with `{z}`, `{x}` and `{y}` in the place of zoom, column and row.
public struct TileSource: Hashable, Sendable {
  /// The address, as the user wrote it.
  public let address: String
  /// Scheme and authority, such as `https://tiles.example`: the only origin from which the page may load images.
  public let origin: String

  /// `nil` for anything but an http or https address of printable ASCII with `{z}`, `{x}` and `{y}` behind the authority. The
  /// authority goes into the page's security policy, so it may have only letters, digits, `.`, `-`, `:`, and the brackets of
  /// IPv6: no user information, and nothing that could begin another directive.
  public init?(_ address: String) {
    // ASCII first: a regular expression takes characters for equal that look alike, such as the Kelvin sign and K.
    guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      let parts = address.wholeMatch(of: /(https?:\/\/[A-Za-z0-9.:\[\]\-]+)([\/?#].*)/),
      ["{z}", "{x}", "{y}"].allSatisfy({ parts.2.contains($0) })
    else { return nil }
    (self.address, origin) = (address, String(parts.1))
  }
}

/// The columns of the map page: those of every format (``ColumnList``), and values that the page cannot compute from them.
enum MapColumns {
  /// All columns but the end of a fence, which is `entered_at` with `duration_ms` (`entered` in a replay), and the bins of
  /// delay, which the page does not show.
  static let all = ColumnList.all.filter { !["exited", "exited_at", "delay_bins"].contains($0.name) } + ofMap

  /// Numbers for the script: the class decides the colour, and the number of the session stands for its id, which replays
  /// lack.
  private static let ofMap: [Column<FenceRecord>] = [
    Column("technology_class", .integer, "place of its class in the legend of technologies") { record in
      .count(Legend.place(of: Legend.entry(of: record.fence)))
    },
    Column("signal_dbm", .decimal, "lowest level of the quantity that stands for the technology") { record in
      let level = record.fence.radio?.minimumLevel(of: record.fence.technology)
      return level.flatMap { JSON.rounded($0, places: 1) }
    },
    Column("drive_started_at", .time, "start of its drive, which its links share") {
      ($0.driveStarted?.iso8601).map(JSON.string)
    },
    Column("drive_session", .integer, "number of the session in its drive, from 0") { .count($0.session.number) },
  ]
}

/// Speed tests as the map page and the live page read them: a JSON array with an object for each test, without the curves,
/// the pings and the positions.
enum MapSpeedTests {
  static let columns = SpeedTestColumns.table

  /// The JSON text in one line, safe inside of a `script` element.
  static func text(_ tests: [StoredSpeedTest]) -> [UInt8] {
    ScriptText.json(Array(JSON.array(tests.map(object)).text.utf8))
  }

  /// The values of a test under the names of the exports, and the place of its colour in the legend of technologies.
  private static func object(_ test: StoredSpeedTest) -> JSON {
    let values = columns.compactMap { column in column.value(test).map { JSON.Member(column.name, $0) } }
    let place = Legend.place(of: Legend.entry(of: test.technology?.generation))
    return .object(values + [JSON.Member("technology_class", .count(place))])
  }
}
