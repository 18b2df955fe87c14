import Coverage
import OrderedJSON
import Store

/// A column of exported speed tests: one value of a test, with the same name in every format.
struct SpeedTestColumn: Sendable {
  /// How a format with features of its own writes the value.
  enum Role: Hashable, Sendable {
    /// The number of the feature.
    case identity
    /// The place of the feature.
    case position
    /// A property of the feature.
    case property
    /// A list, in JSON Lines only.
    case list
  }

  /// The name, in ASCII letters, digits and `_`; a quantity ends with its unit.
  let name: String
  /// What its values are; of a list, ``Column/Kind/object``: its text is JSON.
  let kind: Column.Kind
  /// How a format with features of its own writes the value.
  let role: Role
  /// What it means, in one line of Markdown.
  let meaning: String
  /// The value of a test; `nil` when it is unknown, and for figures of a test without any.
  let value: @Sendable (StoredSpeedTest) -> JSON?

  private init(
    _ name: String, _ kind: Column.Kind, _ meaning: String, role: Role = .property,
    value: @escaping @Sendable (StoredSpeedTest) -> JSON?
  ) {
    (self.name, self.kind, self.meaning, self.role, self.value) = (name, kind, meaning, role, value)
  }

  /// All columns, in order.
  static let all: [SpeedTestColumn] = itself + figures + delays + place + lists

  /// The columns of a table of single values.
  static let table = all.filter { $0.role != .list }

  /// The values of a feature whose format has no number for features; the place is its geometry.
  static let fields = table.filter { $0.role != .position }

  /// The values of a feature beside its number and its place.
  static let properties = table.filter { $0.role == .property }

  /// The test itself: its identifiers, its state, its time and its technology.
  private static let itself = [
    SpeedTestColumn("id", .long, "number of the test in the store", role: .identity) { .integer($0.id) },
    SpeedTestColumn("store_id", .text, "identity of the store (UUID): numbers are unique with it only") {
      $0.store.map(JSON.string)
    },
    SpeedTestColumn("test_uuid", .text, "the control server's identifier of the test") { .string($0.testUUID) },
    SpeedTestColumn("loop_uuid", .text, "the loop that it belongs to") { $0.loopUUID.map(JSON.string) },
    SpeedTestColumn("test_counter", .integer, "its number in the loop, from 1") {
      $0.number.map { .integer(Int64($0)) }
    },
    SpeedTestColumn("drive", .long, "number of the drive that was being recorded") { $0.drive.map(JSON.integer) },
    SpeedTestColumn("state", .text, "`waiting`, `sending`, `submitted` or `quarantined`") {
      .string($0.state.rawValue)
    },
    SpeedTestColumn("outcome", .text, "`completed`, `failed` or `aborted`") { $0.outcome.map { .string($0.rawValue) } },
    SpeedTestColumn("error", .text, "why it failed or was aborted") { $0.error.map(JSON.string) },
    SpeedTestColumn("started_at", .time, "when the server made it: ISO 8601, UTC") { .string($0.started.iso8601) },
    SpeedTestColumn("ended_at", .time, "when it ended") { $0.ended.map { .string($0.iso8601) } },
    SpeedTestColumn("technology", .text, "radio technology at its start") { $0.technology.map { .string($0.name) } },
    SpeedTestColumn("technology_id", .integer, "its number at the control server") {
      $0.technology?.id.map { .integer(Int64($0)) }
    },
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
    figure("pings", .integer, "number of pings") { .integer(Int64($0.pings.count)) },
    figure("download_connections", .integer, "connections that took part in the download") {
      $0.download.map { .integer(Int64($0.connections)) }
    },
    figure("upload_connections", .integer, "connections that took part in the upload") {
      $0.upload.map { .integer(Int64($0.connections)) }
    },
    figure("interrupted", .boolean, "whether less than 85 % of a phase was measured, or no byte came for 2 s") {
      figures in
      [figures.download, figures.upload].contains { $0?.planned != nil } ? .bool(figures.isInterrupted) : nil
    },
    figure("download_measured_percent", .decimal, "share of the planned download that its rate is of") {
      percent($0.download?.measuredShare)
    },
    figure("upload_measured_percent", .decimal, "the same of the upload") { percent($0.upload?.measuredShare) },
    figure("download_silence_ms", .decimal, "longest time of the download in which no connection had a byte") {
      milliseconds($0.download?.silence)
    },
    figure("upload_silence_ms", .decimal, "the same of the upload, by the server's reports") {
      milliseconds($0.upload?.silence)
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
        ($0.delays.first { $0.part == part }?.lost).map { .integer(Int64($0)) }
      },
    ]
  }

  private static let place = [
    SpeedTestColumn("latitude", .decimal, "where it began, degrees north (WGS 84)", role: .position) {
      ($0.place?.latitude).map(JSON.degrees)
    },
    SpeedTestColumn("longitude", .decimal, "where it began, degrees east (WGS 84)", role: .position) {
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
    _ name: String, _ kind: Column.Kind, _ meaning: String, _ value: @escaping @Sendable (SpeedTestFigures) -> JSON?
  ) -> SpeedTestColumn {
    SpeedTestColumn(name, kind, meaning) { $0.figures.flatMap(value) }
  }

  private static func list(
    _ name: String, _ meaning: String, _ value: @escaping @Sendable (SpeedTestFigures) -> JSON?
  ) -> SpeedTestColumn {
    SpeedTestColumn(name, .object, meaning, role: .list) { $0.figures.flatMap(value) }
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
