import Coverage
import DriveLog
import Evidence

/// `verify`: compares a drive log with a packet capture of the same drive (docs/capture.md).
public struct Verifying: Sendable {
  private let drive: RecordedDrive
  private let verification: Verification
  private let missing: UInt64
  private let limit: Duration
  /// What could not be read of the files, one line each.
  public let complaints: [String]

  /// - Parameters:
  ///   - path: The drive log.
  ///   - captures: Capture files, in any order.
  ///   - limit: How far round-trip times may be apart at the 99th of 100.
  ///   - timeout: After it a ping counted as lost, instead of what the log says.
  /// - Throws: ``UnreadableEvidence``
  public init(path: String, captures: [String], limit: Duration, timeout: Duration? = nil) throws {
    do {
      drive = try RecordedDrive(path: path)
    } catch {
      throw UnreadableEvidence(path: path, reason: "\(error)")
    }
    var complaints: [String] = []
    var packets: [CapturedPacket] = []
    var missing: UInt64 = 0
    var newest = (stamp: Int64.min, isCutOff: false)
    for path in captures {
      let file = try Self.capture(path)
      packets += file.packets
      if let last = file.packets.map(\.stamp).max(), last >= newest.stamp { newest = (last, file.statistics == nil) }
      if let damage = file.damage { complaints.append("\(path): \(damage); what follows was not read") }
      if file.unusable > 0 { complaints.append("\(path): \(file.unusable) packets cannot be used") }
      if let told = file.statistics {
        missing &+= told.missing
      } else {
        complaints.append("\(path): it was cut off: it does not tell how many packets are missing in it")
      }
    }
    if !drive.garbage.isEmpty { complaints.append("\(path): \(counted(drive.garbage.count, "line")) skipped") }
    if drive.isTorn { complaints.append("\(path): the last line is cut off, as by a power cut; it was skipped") }
    verification = Verification(
      events: drive.events, sequences: drive.pingSequences, started: drive.header.started,
      trips: RoundTrips(packets).trips, interval: drive.header.pings?.interval ?? .milliseconds(100),
      timeout: timeout ?? drive.header.pings?.timeout ?? .seconds(1), isCutOff: newest.isCutOff,
      hostLeads: drive.clocks.compactMap { note in note.hostAhead.map { (note.at, $0) } })
    (self.complaints, self.limit, self.missing) = (complaints, limit, missing)
  }

  private static func capture(_ path: String) throws(UnreadableEvidence) -> CaptureFile {
    do {
      return try CaptureFile(path: path)
    } catch {
      throw UnreadableEvidence(path: path, reason: "\(error)")
    }
  }

  /// Whether the capture confirms the log.
  public var outcome: CommandOutcome { verification.agrees(within: limit) ? .done : .failed }

  /// The result, line by line; the last one is the verdict.
  public var lines: [String] {
    var lines = verification.lines
    if missing > 0 { lines.append("\(missing) packets are missing in the capture, as its files tell") }
    return lines + [verdict]
  }

  private var verdict: String {
    if outcome == .done { return "the capture bears out the drive log" }
    if verification.matched == 0 { return "the two differ: no ping of the drive log is in the capture" }
    let count = verification.disagreements.count
    if count > 0 { return "the two differ in \(count) \(count == 1 ? "ping" : "pings")" }
    return "the two differ: round-trip times are more than \(limit.inMicroseconds) µs apart at the 99th of 100"
  }
}

/// A file of a verification cannot be read. The line names it.
public struct UnreadableEvidence: Error, Hashable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String { reason.contains(path) ? reason : "\(path): \(reason)" }
}
