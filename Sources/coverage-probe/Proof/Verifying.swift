import Coverage
import Driving
import Service
import Settings
import Store

/// `verify`: compares a drive log with a packet capture of the same drive (docs/capture.md).
struct Verifying: Sendable {
  private let drive: RecordedDrive
  private let verification: Verification
  /// The parts of the files that could not be read, one line each.
  let complaints: [String]

  /// Reads the files and compares them.
  /// - Parameters:
  ///   - limit: The largest allowed 99th percentile of the differences between round-trip times.
  ///   - timeout: When a ping counted as lost; `nil`: the timeout in the log.
  /// - Throws: ``InputFileError``, ``CommandFailure``
  init(
    path: String, captures: [String], limit: Duration, timeout: Duration? = nil, progress: WorkProgress = .none
  ) throws {
    let data = try InputFile.contents(path, limit: RecordedDrive.largest)
    do {
      drive = try RecordedDrive(data) { progress.show($0, of: "byte") { data.count } }
    } catch {
      throw CommandFailure("\(path): \(error)")
    }
    var complaints: [String] = []
    var packets: [CapturedPacket] = []
    for (index, path) in captures.enumerated() {
      progress.show(index, of: "capture file") { captures.count }
      let file = try Self.capture(path)
      packets += file.packets
      if let damage = file.damage { complaints.append("\(path): \(damage); what follows was not read") }
      if file.unusable > 0 { complaints.append("\(path): \(counted(file.unusable, "packet")) cannot be used") }
    }
    if drive.capture == nil {
      complaints.append(
        "\(path): no counters of the capture, as after a kill: the number of missing packets is unknown")
    }
    if !drive.garbage.isEmpty { complaints.append("\(path): \(counted(drive.garbage.count, "line")) skipped") }
    if drive.isTorn { complaints.append("\(path): the last line is cut off, as by a power cut; it was skipped") }
    verification = Verification(
      events: drive.events, sequences: drive.pingSequences, started: drive.header.started,
      trips: RoundTrips(packets).trips, interval: drive.header.pings?.interval ?? .milliseconds(100),
      timeout: timeout ?? drive.header.pings?.timeout ?? .seconds(1), isCutOff: drive.capture == nil,
      limit: limit, hostLeads: drive.clocks.compactMap { note in note.hostAhead.map { (note.at, $0) } })
    self.complaints = complaints
  }

  private static func capture(_ path: String) throws -> CaptureFile {
    let bytes = [UInt8](try InputFile.contents(path, limit: 1 << 31))
    do {
      return try CaptureFile(bytes)
    } catch {
      throw CommandFailure("\(path): \(error)")
    }
  }

  /// `done` when the capture confirms the log, else `failed`.
  var outcome: CommandOutcome { verification.agrees ? .done : .failed }

  /// The result, line by line; the last line is the verdict.
  var lines: [String] {
    var lines = verification.lines
    if let missing = drive.capture?.missing, missing > 0 {
      lines.append("\(counted(missing, "packet is", "packets are")) missing from the capture, by the drive log")
    }
    return lines + [verdict]
  }

  /// The first reason for a difference, from missing pings to round-trip times.
  private var verdict: String {
    if outcome == .done { return "the capture confirms the drive log" }
    if verification.matched == 0 { return "the two differ: no ping of the drive log is in the capture" }
    let count = verification.disagreements.count
    if count > 0 { return "the two differ in \(count) \(count == 1 ? "ping" : "pings")" }
    let limit = verification.limit.inMicroseconds
    return "the two differ: round-trip times are more than \(limit) µs apart at the 99th of 100"
  }
}
