import Coverage
import OrderedJSON

/// The request that submits a speed test (/result; docs/protocol.md, 6.2).
struct SpeedTestResult: Hashable, Sendable {
  /// The client UUID that requested the test.
  var clientUUID: String
  /// The server's identifier of the test.
  var testUUID: String
  /// The token of the test, byte by byte as it was issued.
  var token: String
  /// Now.
  var submitted: WallTime
  /// How often the result was sent before.
  var retries: Int
  /// The technology of the modem; `nil` when it is not known, or when no modem carried the test.
  var technology: Technology?
  /// Whether there are results of QoS tests, which follow.
  var hasQoS = false
  /// The figures. The server refuses a result that is not complete (``Coverage/SpeedTestFigures/isComplete``).
  var figures: SpeedTestFigures

  func json(_ device: Device) -> JSON {
    .object(
      JSON.members([
        "client_uuid": .string(clientUUID), "uuid": .string(clientUUID), "test_uuid": .string(testUUID),
        "test_token": .string(token), "time": .integer(submitted.milliseconds), "test_status": "0",
        "test_submission_retry_count": .integer(Int64(retries)), "user_server_selection": false,
        "last_client_status": "END", "last_qos_status": hasQoS ? "QOS_END" : nil,
        "network_type": .integer(NetworkType.of(links: figures.links, technology)),
        "wifi_ssid": figures.links?.ssid.map { ColumnText.json($0, ColumnText.long) },
      ]) + connection + rates
        + JSON.members([
          "pings": .array(figures.pings.map(SpeedTestJSON.ping)), "speed_detail": .array(SpeedTestJSON.curves(figures)),
        ]) + radio
        + JSON.members(["geoLocations": .array(figures.places.map(Self.place))])
        + device.members.filter { $0.key != "client_version" }
        + JSON.members(["client_version": ColumnText.json(figures.serverVersion, ColumnText.code)]))
  }

  private var connection: [JSON.Member] {
    JSON.members([
      "test_port_remote": .integer(Int64(figures.port)),
      "test_ip_local": figures.localAddress.map(ColumnText.address),
      "test_ip_server": figures.serverAddress.map(ColumnText.address),
      "test_encryption": .string(figures.encryption ?? "NONE"),
      "test_total_bytes_download": .integer(figures.traffic.received),
      "test_total_bytes_upload": .integer(figures.traffic.sent),
    ])
  }

  private var rates: [JSON.Member] {
    JSON.members([
      "test_speed_download": (figures.download?.kilobitsPerSecond).map(JSON.integer),
      "test_bytes_download": (figures.download?.bytes).map(JSON.integer),
      "test_nsec_download": (figures.download?.nanoseconds).map(JSON.integer),
      "time_dl_ns": (figures.download?.began).map(JSON.integer),
      "test_num_threads": (figures.download?.connections).map { .integer(Int64($0)) },
      "test_speed_upload": (figures.upload?.kilobitsPerSecond).map(JSON.integer),
      "test_bytes_upload": (figures.upload?.bytes).map(JSON.integer),
      "test_nsec_upload": (figures.upload?.nanoseconds).map(JSON.integer),
      "time_ul_ns": (figures.upload?.began).map(JSON.integer),
      "num_threads_ul": (figures.upload?.connections).map { .integer(Int64($0)) },
      "test_ping_shortest": figures.shortestClientPing.map(JSON.integer),
    ])
  }

  private var radio: [JSON.Member] {
    let network = MobileNetwork(
      operatorCode: figures.operatorCode, operatorName: figures.operatorName, simOperatorCode: figures.simOperatorCode,
      simOperatorName: figures.simOperatorName, isRoaming: figures.isRoaming)
    var info = RadioInfo(testUUID: testUUID)
    let last = figures.upload ?? figures.download
    let end = (last?.began ?? 0).saturatingAdding(last?.nanoseconds ?? 0)
    let quantity = FenceRadio.quantities(of: technology).first
    let level = quantity.flatMap { quantity in figures.signal.map { [quantity: $0] } }
    info?.add(figures.cell, technology, levels: level ?? [:], environment: figures.environment, at: .nanoseconds(end))
    return network.members + (info?.members ?? [])
  }

  private static func place(_ place: SpeedTestPlace) -> JSON {
    .object([
      "tstamp": .integer(place.time.milliseconds), "time_ns": .integer(place.offset),
      "geo_lat": .number(place.latitude), "geo_long": .number(place.longitude),
      "accuracy": place.accuracy.flatMap { JSON.rounded($0, places: 1) },
      "altitude": place.altitude.flatMap { JSON.rounded($0, places: 1) },
      "bearing": place.course.flatMap { JSON.rounded($0, places: 1) },
      "speed": place.speed.flatMap { JSON.rounded($0, places: 2) }, "provider": "gps",
    ])
  }
}

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
