import Foundation
import TestSupport
import Testing

@testable import Service
@testable import coverage_probe

/// `verify` with a drive log and capture files of the same pings (docs/capture.md).
struct VerifyingDriveTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// 2026-11-20T10:00:00Z in nanoseconds.
  private static let started: UInt64 = 1_795_168_800_000_000_000

  // MARK: Files

  private static func big(_ value: Int, _ bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func little(_ value: UInt64, _ bytes: Int) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
  }

  /// A packet between the probe and the server, at this time of the drive.
  private static func packet(_ microseconds: Int, isRequest: Bool, _ payload: [UInt8]) -> [UInt8] {
    let (us, server): ([UInt8], [UInt8]) = ([10, 0, 0, 1], [10, 0, 0, 2])
    let ports = isRequest ? big(4000, 2) + big(444, 2) : big(444, 2) + big(4000, 2)
    let udp = ports + big(8 + payload.count, 2) + [0, 0] + payload
    let ip =
      [0x45, 0] + big(20 + udp.count, 2) + [0, 0, 0, 0, 64, 17, 0, 0] + (isRequest ? us + server : server + us) + udp
    let stamp = started + UInt64(microseconds) * 1000
    return little(stamp / 1_000_000_000, 4) + little(stamp % 1_000_000_000, 4)
      + little(UInt64(ip.count), 4) + little(UInt64(ip.count), 4) + ip
  }

  /// A ping each 100 ms; its reply comes after `rtt` microseconds.
  private static func ping(_ number: Int, rtt: Int?) -> [UInt8] {
    let sent = number * 100_000 + 50
    let request = packet(
      sent, isRequest: true, Array("RP01".utf8) + big(number, 4) + [UInt8](repeating: 7, count: 16))
    return request
      + (rtt.map { packet(sent + $0, isRequest: false, Array("RR01".utf8) + big(number, 4)) } ?? [])
  }

  private func capture(_ name: String, _ pings: [UInt8]...) throws -> String {
    let header =
      Self.little(0xA1B2_3C4D, 4) + [2, 0, 4, 0] + Self.little(0, 8) + Self.little(160, 4) + Self.little(101, 4)
    let path = folder.file(name)
    try Data(header + pings.flatMap { $0 }).write(to: URL(fileURLWithPath: path))
    return path
  }

  /// The log of pings with these round-trip times in milliseconds; `nil`: lost.
  /// - Parameter missing: Packets that the capture lacks; `nil`: it was cut off.
  private func log(_ times: [Double?], missing: Int? = 0, more: String = "") throws -> String {
    let pings = times.enumerated().map { number, time in
      let outcome = time.map { #""rtt_ms":\#($0)"# } ?? #""error":"timeout""#
      return #"{"at":\#(Double(number) / 10),"ping":{\#(outcome)},"sequence":\#(number)}"#
    }
    let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular"}"#
    let note = missing.map {
      #"{"at":0.0,"capture":{"packets":9,"dropped_by_kernel":\#($0),"dropped_by_interface":0,"unwritten":0}}"#
    }
    let lines = [header] + pings + [note].compactMap { $0 }
    return try folder.write(lines.joined(separator: "\n") + "\n" + more, to: "drive.jsonl")
  }

  private func verify(_ log: String, _ captures: String..., limit: Duration = .microseconds(50)) throws -> Verifying {
    try Verifying(path: log, captures: captures, limit: limit)
  }

  // MARK: Verdicts

  @Test("when log and capture have the same pings, then the verdict confirms the log, and the command is done")
  func confirmed() throws {
    let result = try verify(
      try log([20, nil, 30]),
      try capture(
        "a", Self.ping(0, rtt: 20_002), Self.ping(1, rtt: nil), Self.ping(2, rtt: 30_004)))
    #expect(result.outcome == .done && result.complaints.isEmpty, "\(result.lines)")
    #expect(result.lines.first == "3 pings in both: 2 answered in both, 1 lost in both")
    #expect(result.lines.last == "the capture confirms the drive log")
  }

  @Test("when the pings are in several files in any order, then they are compared as one capture")
  func severalFiles() throws {
    let second = try capture("b", Self.ping(1, rtt: 25_000))
    let first = try capture("a", Self.ping(0, rtt: 20_000))
    #expect(try verify(try log([20, 25]), second, first).outcome == .done)
  }

  @Test("when pings differ, then the verdict counts them, and the command fails")
  func differs() throws {
    let file = try capture("a", Self.ping(0, rtt: nil), Self.ping(1, rtt: nil), Self.ping(2, rtt: 20_000))
    let one = try verify(try log([20, nil, 20]), file)
    #expect(one.outcome == .failed && one.lines.last == "the two differ in 1 ping")
    let two = try verify(try log([20, 20, 20]), file)
    #expect(two.lines.last == "the two differ in 2 pings")
    #expect(two.lines.contains("2 pings answered in the log, not in the capture, the first at 0.0 s"))
  }

  @Test("when round-trip times differ by more than the limit, then the verdict names the limit")
  func limit() throws {
    let (log, file) = (try log([20]), try capture("a", Self.ping(0, rtt: 20_060)))
    #expect(
      try verify(log, file).lines.last
        == "the two differ: round-trip times are more than 50 µs apart at the 99th of 100")
    #expect(try verify(log, file, limit: .microseconds(60)).outcome == .done)
  }

  // MARK: Incomplete files

  @Test("when the kernel dropped packets, then a line has their number from the log")
  func missing() throws {
    let log = try log([20, 20], missing: 7)
    let result = try verify(log, try capture("a", Self.ping(0, rtt: 20_000), Self.ping(1, rtt: 20_000)))
    #expect(result.lines.contains("7 packets are missing from the capture, by the drive log"))
    #expect(result.outcome == .done, "the captured pings agree")
  }

  @Test("when the capture was cut off, then it may lack the end of the log; a complete one may not")
  func cutOff() throws {
    let files = [try capture("a", Self.ping(0, rtt: 20_000)), try capture("b", Self.ping(1, rtt: 20_000))]
    let log = try log([20, 20, 20], missing: nil)
    let result = try verify(log, files[0], files[1])
    #expect(result.outcome == .done, "\(result.lines)")
    #expect(
      result.complaints == [
        "\(log): no counters of the capture, as after a kill: the number of missing packets is unknown"
      ])
    #expect(try verify(try self.log([20, 20, 20]), files[0], files[1]).lines.last == "the two differ in 1 ping")
  }

  @Test("when parts of the files cannot be read, then each has its complaint, and the rest is compared")
  func damage() throws {
    let file = try capture("a", Self.ping(0, rtt: 20_000))
    // Half a packet's header.
    let bytes = try #require(FileManager.default.contents(atPath: file))
    try (bytes + Data([6, 0, 0, 0])).write(to: URL(fileURLWithPath: file))
    let result = try verify(try log([20], more: "nonsense\n{\"at\":0.2,\"pi"), file)
    #expect(
      result.complaints.map { $0.replacing(folder.path + "/", with: "") } == [
        "a: behind packet 2: truncated dump file; tried to read 16 header bytes, only got 4; what follows was not read",
        "drive.jsonl: 1 line skipped",
        "drive.jsonl: the last line is cut off, as by a power cut; it was skipped",
      ])
    #expect(result.outcome == .done)
  }

  @Test("when a longer timeout is set, then a later reply counts as in time")
  func timeout() throws {
    let (log, file) = (try log([1200]), try capture("a", Self.ping(0, rtt: 1_200_000)))
    #expect(try verify(log, file).lines.last == "the two differ in 1 ping")
    #expect(
      try Verifying(path: log, captures: [file], limit: .microseconds(50), timeout: .seconds(2)).outcome == .done)
  }
}
