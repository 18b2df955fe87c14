import Coverage
import OrderedJSON
import Store

/// The one table of columns: every format writes these, in this order, and docs/export.md is generated from it.
enum ColumnList {
  /// All columns.
  static let all: [Column] = places + test + figures + RadioColumns.all

  /// The properties of a feature of the store: without number and place, which each format has a form of its own for.
  static let storedProperties: [Column] = storedFields.filter { $0.role != .identity }

  /// The same with the number, for formats whose features have none that every reader shows.
  static let storedFields: [Column] = all.filter { $0.role != .position && $0.source != .replay }

  /// The columns of a table of the store's fences.
  static let storedTable: [Column] = all.filter { $0.source != .replay }

  /// The members of a line of JSON Lines, wherever the record comes from.
  static let line: [Column] = all.filter { $0.role == .position || $0.role == .property }

  /// The properties of a feature of GeoJSON, wherever the record comes from.
  static let properties: [Column] = all.filter { $0.role == .property }

  /// Identity, time, place and link of a fence.
  private static let places: [Column] = [
    Column("id", .long, "number of the fence in the store", role: .identity, of: .store) {
      $0.driveStarted == nil ? nil : .integer($0.id)
    },
    Column("entered", .decimal, "seconds from the start of the drive to the beginning of the fence", of: .replay) {
      $0.driveStarted == nil ? .seconds($0.fence.entered) : nil
    },
    Column("exited", .decimal, "seconds from the start of the drive to the end of the fence", of: .replay) {
      $0.driveStarted == nil ? $0.fence.exited.map(JSON.seconds) : nil
    },
    Column("session", .long, "id of the session, as `sessions` lists it", of: .store) {
      $0.storedSession.map(JSON.integer)
    },
    Column("drive", .long, "id of the drive in the store", of: .store) { ($0.provenance?.drive).map(JSON.integer) },
    Column("store_id", .text, "identity of the store (UUID): numbers and ids are unique with it only", of: .store) {
      ($0.provenance?.store).map(JSON.string)
    },
    Column("clock", .text, "clock that dates the drive: `gnss`, `server` or `host`", of: .store) {
      ($0.provenance?.clock).map(JSON.string)
    },
    Column("quarantined", .boolean, "whether the control server refused fences of the session", of: .store) {
      ($0.provenance?.isQuarantined).map(JSON.bool)
    },
    Column(
      "target", .text, "the user's own target of the pings (`pings.target`); absent for drives with a control server",
      of: .store
    ) { ($0.provenance?.target).map(JSON.string) },
    Column("entered_at", .time, "beginning of the fence", of: .store) { record in
      record.driveStarted.map { .string(($0 + record.fence.entered).iso8601) }
    },
    Column("exited_at", .time, "end of the fence", of: .store) { record in
      record.driveStarted.flatMap { started in record.fence.exited.map { .string((started + $0).iso8601) } }
    },
    Column("latitude", .decimal, "degrees north (WGS 84), of the centre", role: .position) {
      .degrees($0.fence.centre.latitude)
    },
    Column("longitude", .decimal, "degrees east (WGS 84), of the centre", role: .position) {
      .degrees($0.fence.centre.longitude)
    },
    Column("link", .text, "name of the measured link, when a drive measures several") { $0.link.map(JSON.string) },
    Column("radius_m", .decimal, "radius on the ground, in metres") { .figure($0.fence.radius, 2) },
    Column(
      "distance_m", .decimal,
      "distance from the centre of the fence before, in metres; none after a gap or a jump (algorithm.md, 9)"
    ) { $0.distance.map { .figure($0, 2) } },
  ]

  /// The counts and the mean of the pings, the technology, the test of the control server, and the submission.
  private static let test: [Column] = [
    Column("pings", .integer, "pings with an outcome that were sent in the fence") { .count($0.fence.pings) },
    Column("pings_ok", .integer, "of these, those answered within `pings.timeout`") {
      .count($0.fence.pingsAnswered)
    },
    Column("avg_ping_ms", .decimal, "mean round-trip time of the answered pings (RFC 2681)") {
      $0.fence.meanRTTNanoseconds.map(JSON.delay)
    },
    Column("technology", .text, "radio technology at the last accurate position in the fence") {
      $0.knownTechnology.map { .string($0.name) }
    },
    Column("technology_id", .integer, "the control server's number of that technology") {
      $0.knownTechnology?.id.map { .integer(Int64($0)) }
    },
    Column("test_uuid", .text, "the control server's identifier of the test") {
      $0.session.testUUID.map(JSON.string)
    },
    Column("offset_ms", .long, "milliseconds from the anchor of the test to the beginning of the fence, as submitted") {
      record in record.session.anchor.map { .integer((record.fence.entered - $0).inMilliseconds) }
    },
    Column("duration_ms", .long, "milliseconds from beginning to end, as submitted") {
      $0.fence.duration.map { .integer($0.inMilliseconds) }
    },
    Column(
      "submittable", .boolean,
      "false for a fence that is never submitted: Wi-Fi touched it, or the probe could not measure it"
    ) {
      .bool($0.fence.isSubmittable)
    },
    Column("submitted_at", .time, "when the control server accepted the fence", role: .record, of: .store) {
      $0.submitted.map { .string($0.iso8601) }
    },
  ]

  /// Accuracy, altitude and motion at the fix that opened the fence, and the distribution of its pings.
  private static let figures: [Column] = [
    Column("accuracy_m", .decimal, "accuracy of the position that opened the fence (68 % radius), in metres") {
      $0.fence.fix.accuracy.map { .figure($0, 2) }
    },
    Column("altitude_m", .decimal, "its altitude, in metres, as gpsd reports it") {
      $0.fence.fix.altitude.map { .figure($0, 2) }
    },
    Column("course_deg", .decimal, "its course over ground, in degrees from true north") {
      $0.fence.fix.course.map(JSON.course)
    },
    Column("speed_mps", .decimal, "its speed over ground, in metres a second") {
      $0.fence.fix.speed.map { .figure($0, 2) }
    },
    Column("pings_lost", .integer, "`pings` without `pings_ok` (RFC 2680, with `pings.timeout` as the limit)") {
      .count($0.fence.pingsLost)
    },
    Column("pings_late", .integer, "of the lost pings, those answered after the limit") {
      .count($0.fence.figures.late)
    },
    Column("pings_unsent", .integer, "pings that the host could not send; they are not among `pings`") {
      .count($0.fence.figures.unsent)
    },
    Column("pings_duplicate", .integer, "second and further answers to the same pings") {
      .count($0.fence.figures.duplicates)
    },
    Column("min_ping_ms", .decimal, "shortest round-trip time") {
      ($0.fence.figures.roundTrip?.minimum).map(JSON.delay)
    },
    Column("p50_ping_ms", .decimal, "median round-trip time, by nearest rank") {
      ($0.fence.figures.roundTrip?.median).map(JSON.delay)
    },
    Column(
      "p95_ping_ms", .decimal, "95th percentile of the round-trip times, by nearest rank, from 20 answered pings on"
    ) {
      $0.fence.percentile95.map(JSON.delay)
    },
    Column("max_ping_ms", .decimal, "longest round-trip time") {
      ($0.fence.figures.roundTrip?.maximum).map(JSON.delay)
    },
    Column("ipdv_ms", .decimal, "mean absolute delay variation of consecutive answered pings (RFC 3393)") {
      $0.fence.figures.meanVariation.map(JSON.delay)
    },
    Column("avg_ping_kernel_ms", .decimal, "mean round-trip time of the pings that the kernel stamped at both ends") {
      $0.fence.figures.kernelMean.map(JSON.delay)
    },
    Column("delay_bins", .text, "all round-trip times as `bin=count` (see Bins of delay)") {
      $0.fence.figures.delays.isEmpty ? nil : .string($0.fence.figures.delays.description)
    },
  ]
}
