import Coverage
import OrderedJSON
import Store

/// The one table of columns: every format writes these, in this order, and docs/export.md is generated from it.
enum ColumnList {
  static let all: [Column<FenceRecord>] = places + test + figures + RadioColumns.all

  /// The properties of a feature of the store: without number and place, which each format has a form of its own for.
  static let storedProperties: [Column<FenceRecord>] = storedFields.filter { $0.role != .identity }

  /// The same with the number, for formats whose features have none that every reader shows.
  static let storedFields: [Column<FenceRecord>] = all.filter { $0.role != .position && $0.source != .replay }

  static let storedTable: [Column<FenceRecord>] = all.filter { $0.source != .replay }

  /// The members of a line of JSON Lines, wherever the record comes from.
  static let line: [Column<FenceRecord>] = all.filter { $0.role != .record }

  /// The properties of a feature of GeoJSON, wherever the record comes from.
  static let properties: [Column<FenceRecord>] = all.filter { $0.role == .property }

  /// Identity, time, place and link of a fence.
  private static let places: [Column<FenceRecord>] = [
    Column("id", .long, "number of the fence in the store", role: .identity, of: .store) {
      $0.driveStarted == nil ? nil : .integer($0.id)
    },
    Column("entered", .decimal, "seconds from the start of the drive to the beginning of the fence", of: .replay) {
      $0.driveStarted == nil ? .seconds($0.fence.entered) : nil
    },
    Column("exited", .decimal, "seconds from the start of the drive to the end of the fence", of: .replay) {
      $0.driveStarted == nil ? $0.fence.exited.map(JSON.seconds) : nil
    },
    .number("session", "id of the session, as `sessions` lists it", of: .store) { $0.stored?.id },
    .number("drive", "id of the drive in the store", of: .store) { $0.stored?.drive },
    .text("store_id", "identity of the store (UUID): numbers and ids are unique with it only", of: .store) {
      $0.stored?.store
    },
    .text("clock", "clock that dates the drive: `gnss`, `server` or `host`", of: .store) { $0.stored?.clock },
    Column("quarantined", .boolean, "whether fences of the session are quarantined", of: .store) {
      $0.stored.map { .bool($0.quarantineReason != nil) }
    },
    .text(
      "target", "the user's own target of the pings (`pings.target`); absent for drives with a control server",
      of: .store
    ) { $0.stored?.target },
    Column("entered_at", .time, "beginning of the fence", of: .store) { ($0.enteredAt?.iso8601).map(JSON.string) },
    Column("exited_at", .time, "end of the fence", of: .store) { ($0.exitedAt?.iso8601).map(JSON.string) },
    Column("latitude", .decimal, "degrees north (WGS 84), of the centre", role: .position) {
      .degrees($0.fence.centre.latitude)
    },
    Column("longitude", .decimal, "degrees east (WGS 84), of the centre", role: .position) {
      .degrees($0.fence.centre.longitude)
    },
    .text("link", "name of the measured link, when a drive measures several") { $0.link },
    .figure("radius_m", "radius on the ground, in metres") { $0.fence.radius },
    .figure(
      "distance_m",
      "distance from the centre of the fence before, in metres; none after a gap or a jump (algorithm.md, 9)"
    ) { $0.distance },
  ]

  /// The counts and the mean of the pings, the technology, the test of the control server, and the submission.
  private static let test: [Column<FenceRecord>] = [
    .count("pings", "pings with an outcome that were sent in the fence") { $0.fence.pings },
    .count("pings_ok", "of these, those answered within `pings.timeout`") { $0.fence.pingsAnswered },
    .delay("avg_ping_ms", "mean round-trip time of the answered pings (RFC 2681)") { $0.fence.meanRTTNanoseconds },
    .text("technology", "radio technology at the last accurate position in the fence") { $0.knownTechnology?.name },
    .count("technology_id", "the control server's number of that technology") { $0.knownTechnology?.id },
    .text("test_uuid", "the control server's identifier of the test") { $0.session.testUUID },
    .number("offset_ms", "milliseconds from the anchor of the test to the beginning of the fence, as submitted") {
      record in record.session.anchor.map { (record.fence.entered - $0).inMilliseconds }
    },
    .number("duration_ms", "milliseconds from beginning to end, as submitted") { $0.fence.duration?.inMilliseconds },
    Column(
      "submittable", .boolean,
      "false for a fence that is never submitted: Wi-Fi touched it, or the probe could not measure it"
    ) { .bool($0.fence.isSubmittable) },
    Column("submitted_at", .time, "when the control server accepted the fence", role: .record, of: .store) {
      $0.submitted.map { .string($0.iso8601) }
    },
  ]

  /// Accuracy, altitude and motion at the fix that opened the fence, and the distribution of its pings.
  private static let figures: [Column<FenceRecord>] = [
    .figure("accuracy_m", "accuracy of the position that opened the fence (68 % radius), in metres") {
      $0.fence.fix.accuracy
    },
    .figure("altitude_m", "its altitude, in metres, as gpsd reports it") { $0.fence.fix.altitude },
    Column("course_deg", .decimal, "its course over ground, in degrees from true north") {
      $0.fence.fix.course.map(JSON.course)
    },
    .figure("speed_mps", "its speed over ground, in metres a second") { $0.fence.fix.speed },
    .count("pings_lost", "`pings` without `pings_ok` (RFC 2680, with `pings.timeout` as the limit)") {
      $0.fence.pingsLost
    },
    .count("pings_late", "of the lost pings, those answered after the limit") { $0.fence.figures.late },
    .count("pings_unsent", "pings that the host could not send; they are not among `pings`") {
      $0.fence.figures.unsent
    },
    .count("pings_duplicate", "second and further answers to the same pings") { $0.fence.figures.duplicates },
    .delay("min_ping_ms", "shortest round-trip time") { $0.fence.figures.roundTrip?.minimum },
    .delay("p50_ping_ms", "median round-trip time, by nearest rank") { $0.fence.figures.roundTrip?.median },
    .delay("p95_ping_ms", "95th percentile of the round-trip times, by nearest rank, from 20 answered pings on") {
      $0.fence.percentile95
    },
    .delay("max_ping_ms", "longest round-trip time") { $0.fence.figures.roundTrip?.maximum },
    .delay("ipdv_ms", "mean absolute delay variation of consecutive answered pings (RFC 3393)") {
      $0.fence.figures.meanVariation
    },
    .delay("avg_ping_kernel_ms", "mean round-trip time of the pings that the kernel stamped at both ends") {
      $0.fence.figures.kernelMean
    },
    .text("delay_bins", "all round-trip times as `bin=count` (see Bins of delay)") {
      $0.fence.figures.delays.isEmpty ? nil : $0.fence.figures.delays.description
    },
  ]
}
