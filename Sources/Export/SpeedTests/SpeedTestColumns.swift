import Coverage
import OrderedJSON
import Store

/// The columns of exported speed tests.
enum SpeedTestColumns {
  static let all: [Column<StoredSpeedTest>] = itself + figures + delays + radio + place + lists

  /// The columns of a table of single values.
  static let table = all.filter { $0.role != .list }

  /// The values of a feature whose format has no number for features; the place is its geometry.
  static let fields = table.filter { $0.role != .position }

  /// The values of a feature beside its number and its place.
  static let properties = table.filter { $0.role == .property }

  /// The test itself: its identifiers, its state, its time and its technology.
  private static let itself: [Column<StoredSpeedTest>] = [
    Column("id", .long, "number of the test in the store", role: .identity) { .integer($0.id) },
    .text("store_id", "identity of the store (UUID): numbers are unique with it only") { $0.store },
    .text("test_uuid", "the control server's identifier of the test") { $0.testUUID },
    .text("loop_uuid", "the loop that it belongs to") { $0.loopUUID },
    .count("test_counter", "its number in the loop, from 1") { $0.number },
    .number("drive", "number of the drive that was being recorded") { $0.drive },
    .text("state", "`waiting`, `sending`, `submitted` or `quarantined`") { $0.state.rawValue },
    .text("outcome", "`completed`, `failed` or `aborted`") { $0.outcome?.rawValue },
    .text("error", "why it failed or was aborted") { $0.error },
    Column("started_at", .time, "when the server made it: ISO 8601, UTC") { .string($0.started.iso8601) },
    Column("ended_at", .time, "when it ended") { $0.ended.map { .string($0.iso8601) } },
    .text("technology", "radio technology, the last one in the test") { $0.technology?.name },
    .count("technology_id", "its number at the control server") { $0.technology?.id },
  ]

  /// The results; without values for a test that has no figures (`StoredSpeedTest.figures`).
  private static let figures = [
    figure("download_kbps", .long, "download, kbit/s of 1000 bit at the common end of all connections") {
      ($0.download?.kilobitsPerSecond).map(JSON.integer)
    },
    figure("upload_kbps", .long, "upload, the same") { ($0.upload?.kilobitsPerSecond).map(JSON.integer) },
    figure("ping_median_ms", .decimal, "median of the pings, by the server's values") { milliseconds($0.medianPing) },
    figure("ping_shortest_ms", .decimal, "shortest ping, by the server's values too") { milliseconds($0.shortestPing) },
    figure("ping_shortest_client_ms", .decimal, "shortest ping by the client's values, which the control server gets") {
      milliseconds($0.shortestClientPing)
    },
    figure("pings", .integer, "number of pings") { .count($0.pings.count) },
    figure("download_connections", .integer, "connections that took part in the download") {
      $0.download.map { .count($0.connections) }
    },
    figure("upload_connections", .integer, "connections that took part in the upload") {
      $0.upload.map { .count($0.connections) }
    },
    figure(
      "interrupted", .boolean,
      "whether less than 85 % of a phase was measured, no byte came for 2 s, or a connection broke"
    ) {
      figures in
      [figures.download, figures.upload].contains { $0?.planned != nil } ? .bool(figures.isInterrupted) : nil
    },
    figure("download_measured_percent", .decimal, "share of the planned download that its rate is of") {
      percent($0.download?.measuredShare)
    },
    figure("upload_measured_percent", .decimal, "the same of the upload") { percent($0.upload?.measuredShare) },
    figure("download_silence_ms", .integer, "longest time of the download in which no connection had a byte") {
      ($0.download?.silenceMilliseconds).map(JSON.integer)
    },
    figure("upload_silence_ms", .integer, "the same of the upload, by the server's reports") {
      ($0.upload?.silenceMilliseconds).map(JSON.integer)
    },
    figure("received_bytes", .long, "bytes received, pre-tests included, without those that TLS adds") {
      .integer($0.traffic.received)
    },
    figure("sent_bytes", .long, "bytes sent, the same") { .integer($0.traffic.sent) },
    figure("server", .text, "measurement server: name or address") { .string($0.server) },
    figure("server_port", .integer, "its TCP port") { .integer(Int64($0.port)) },
    figure("server_name", .text, "its name at the control server") { $0.serverName.map(JSON.string) },
    figure("encryption", .text, "version of TLS and cipher; NONE without TLS") { .string($0.encryption ?? "NONE") },
    figure("operator", .text, "code of the operator: MCC and MNC") { $0.operatorCode.map(JSON.string) },
    figure("operator_name", .text, "its name") { $0.operatorName.map(JSON.string) },
    figure(
      "link", .text,
      "link that carried it: `cellular`, `wifi`, `ethernet`, `vpn`, `loopback` (this host), `other`; `mixed` of several"
    ) {
      ($0.links?.word).map(JSON.string)
    },
    figure("link_interface", .text, "its interface; of a changed link all of them, in order") {
      ($0.links?.interfaces).map(JSON.string)
    },
    figure("link_changed", .boolean, "whether the link changed within the test: kind, interface or address") {
      $0.links.map { .bool($0.count > 1) }
    },
    figure("roaming", .boolean, "whether the modem was roaming") { $0.isRoaming.map(JSON.bool) },
  ]

  /// The coverage pings before the test and under its loads; only with `speedtest.coverage-pings: continue`
  /// (docs/speedtest.md).
  private static let delays = SpeedTestDelay.Part.allCases.flatMap { part in
    let when = part == .idle ? "in the 10 s before the test" : "under the load of the \(part.rawValue)"
    return [
      figure("\(part.rawValue)_delay_median_ms", .decimal, "median round trip of the coverage pings \(when)") {
        milliseconds($0.delays.first { $0.part == part }?.median)
      },
      figure("\(part.rawValue)_delay_p95_ms", .decimal, "its 95th percentile, nearest rank, from 20 answered pings on")
      {
        milliseconds($0.delays.first { $0.part == part }?.percentile95)
      },
      figure("\(part.rawValue)_pings_lost", .integer, "coverage pings without an answer \(when)") {
        ($0.delays.first { $0.part == part }?.lost).map(JSON.count)
      },
    ]
  }

  /// The modem's report at the end of a test that it carried, by the names of the fences' columns.
  private static let radio: [Column<StoredSpeedTest>] =
    [
      figure("signal_dbm", .decimal, "level of the signal, in the quantity that stands for the technology") {
        $0.signal.flatMap { JSON.rounded($0, places: 1) }
      },
      figure("sim_operator", .text, "code of the SIM's operator: MCC and MNC") {
        $0.simOperatorCode.map(JSON.string)
      },
      figure("sim_operator_name", .text, "its name") { $0.simOperatorName.map(JSON.string) },
    ] + RadioColumns.cell { $0.figures?.cell } + RadioColumns.environment { $0.figures?.environment }

  private static let place: [Column<StoredSpeedTest>] = [
    Column("latitude", .decimal, "where it began, degrees north (WGS 84)", role: .position) {
      ($0.place?.latitude).map(JSON.degrees)
    },
    Column("longitude", .decimal, "where it began, degrees east (WGS 84)", role: .position) {
      ($0.place?.longitude).map(JSON.degrees)
    },
  ]

  /// The raw values from which the result follows: arrays of arrays, too long for a table.
  private static let lists = [
    list("download_curves", "each connection's points: ns since the start of the phase, and all bytes until then") {
      curves($0.download)
    },
    list("upload_curves", "the same of the upload, by the server's clock") { curves($0.upload) },
    list("ping_values", "each ping: the client's and the server's ns, and ns since the start of the test") { figures in
      .array(figures.pings.map { .array([.integer($0.client), .integer($0.server), .integer($0.offset)]) })
    },
    list("track", "positions during the test: ns since its start, longitude, latitude") { figures in
      .array(
        figures.places.map { .array([.integer($0.offset), .degrees($0.longitude), .degrees($0.latitude)]) })
    },
  ]

  private static func figure(
    _ name: String, _ kind: ColumnKind, _ meaning: String, _ value: @escaping @Sendable (SpeedTestFigures) -> JSON?
  ) -> Column<StoredSpeedTest> {
    Column(name, kind, meaning) { $0.figures.flatMap(value) }
  }

  private static func list(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (SpeedTestFigures) -> JSON?
  ) -> Column<StoredSpeedTest> {
    Column(name, .object, meaning, role: .list) { $0.figures.flatMap(value) }
  }

  /// Nanoseconds as milliseconds, without rounding.
  private static func milliseconds(_ nanoseconds: Int64?) -> JSON? {
    nanoseconds.map { .decimal(units: $0, places: 6) }
  }

  private static func percent(_ share: Double?) -> JSON? { share.flatMap { JSON.rounded($0 * 100, places: 1) } }

  /// A list of connections, each a list of points, each a pair of numbers (`SpeedTestRate.curves`).
  private static func curves(_ rate: SpeedTestRate?) -> JSON? {
    rate.map { .array($0.curves.map { .array($0.map { .array($0.map(JSON.integer)) }) }) }
  }
}
