import Coverage
import Foundation

@testable import Driving
@testable import Store

/// A drive log, an empty line, and the capture that should confirm it.
enum CaptureFiles: FuzzTarget {
  static var seeds: [[UInt8]] {
    let header = #"{"drive":1,"started":"2026-11-20T10:00:00.000Z","pings":{"interval":0.1,"timeout":1.0}}"# + "\n"
    let numbered = bytes(header + (0..<12).map { line($0, sequence: true) }.joined() + "\n")
    let timed = bytes(
      header + (0..<12).map { line($0) }.joined() + #"{"at":2.0,"clock_set":3.0}"# + "\n" + note + "\n\n")
    return [
      numbered + pcap(packets + others, 0xA1B2_C3D4, unit: 1), timed + pcap(packets, 0xA1B2_3C4D, unit: 1000),
    ]
  }

  private static let note =
    #"{"at":0.0,"capture":{"packets":9,"dropped_by_kernel":1,"dropped_by_interface":0,"unwritten":0}}"#

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// Every fifth ping is lost.
  private static func isLost(_ number: Int) -> Bool { number % 5 == 4 }

  private static func line(_ number: Int, sequence: Bool = false) -> String {
    let outcome = isLost(number) ? #""error":"timeout""# : #""rtt_ms":20.0"#
    let rest = sequence ? #","sequence":\#(number)}"# : "}"
    return #"{"at":\#(number / 10).\#(number % 10),"ping":{\#(outcome)}"# + rest + "\n"
  }

  private static let began: Int64 = 1_795_168_800_000_000

  private static var packets: [(Int64, [UInt8])] {
    (0..<12).flatMap { number -> [(Int64, [UInt8])] in
      let sent = began + Int64(number) * 100_000
      let request = (sent, Wire.request(UInt32(number)))
      return isLost(number) ? [request] : [request, (sent + 20_000, Wire.reply(UInt32(number)))]
    }
  }

  private static var others: [(Int64, [UInt8])] {
    [
      (began + 500_000, Wire.echo(8, sequence: 1, token: 3)), (began + 510_000, Wire.echo(0, sequence: 1, token: 3)),
      (began + 900_000, Wire.error(about: Wire.request(4))),
    ]
  }

  static let words = [
    "\u{0A}\u{0D}\u{0D}\u{0A}", "\u{4D}\u{3C}\u{2B}\u{1A}", "RP01", "RR01", "RE01", "\"sequence\":", "\"clock_set\":",
    "\"capture\":", "\"interval\":", "\"timeout\":", "292277-01-01T00:00:00Z",
    "2262-04-11T23:47:16Z",
  ]

  static func run(_ input: [UInt8]) {
    let blank = input.indices.first { input[$0] == 0x0A && ($0 == 0 || input[$0 - 1] == 0x0A) } ?? 0
    let log = try? RecordedDrive(Data(input[..<blank]))
    guard let file = try? CaptureFile(Array(input[blank...].dropFirst())) else { return }
    _ = log?.capture?.missing
    let trips = RoundTrips(file.packets).trips
    let pings = log?.header.pings
    let verification = Verification(
      events: log?.events ?? [], sequences: log?.pingSequences ?? [:], started: log?.header.started ?? .earliestTrusted,
      trips: trips, interval: pings?.interval ?? .milliseconds(100), timeout: pings?.timeout ?? .seconds(1),
      isCutOff: log?.capture == nil)
    _ = (verification.lines, verification.agrees)
  }

  // MARK: Seeds

  private static func little(_ value: Int64, _ width: Int) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> Int64(8 * $0)) }
  }

  /// Raw IP.
  /// - Parameter unit: The number of smaller units in a microsecond.
  private static func pcap(_ packets: [(Int64, [UInt8])], _ magic: Int64, unit: Int64) -> [UInt8] {
    var file = little(magic, 4) + [2, 0, 4, 0] + little(0, 8)
    file += little(160, 4) + little(101, 4)
    for (time, bytes) in packets {
      file += little(time / 1_000_000, 4) + little(time % 1_000_000 * unit, 4) + sizes(bytes) + bytes
    }
    return file
  }

  private static func sizes(_ bytes: [UInt8]) -> [UInt8] {
    little(Int64(bytes.count), 4) + little(Int64(bytes.count), 4)
  }
}
