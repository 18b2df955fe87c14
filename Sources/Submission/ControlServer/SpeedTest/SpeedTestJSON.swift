import Coverage
import OrderedJSON

/// The parts of a speed test that are the same on the wire and in the program's own JSON.
public enum SpeedTestJSON {
  /// An element of `pings`; all values are ns.
  public static func ping(_ ping: SpeedTestPing) -> JSON {
    .object(["value": .integer(ping.client), "value_server": .integer(ping.server), "time_ns": .integer(ping.offset)])
  }

  /// The elements of `speed_detail`: the points of both directions and all connections.
  public static func curves(_ figures: SpeedTestFigures) -> [JSON] {
    curve(figures.download, "download") + curve(figures.upload, "upload")
  }

  private static func curve(_ rate: SpeedTestRate?, _ direction: JSON) -> [JSON] {
    (rate?.curves ?? []).enumerated().flatMap { thread, points in
      points.filter { $0.count == 2 }.map { point in
        .object([
          "direction": direction, "thread": .integer(Int64(thread)), "time": .integer(point[0]),
          "bytes": .integer(point[1]),
        ])
      }
    }
  }
}
