import Coverage
import Foundation
import TestSupport
import Testing

@testable import Store

/// The fast reader of ping lines gives the same results as the general decoder.
@Suite struct PingLineTests {
  private static let decoder = JSONDecoder()

  private func generally(_ line: [UInt8]) -> EventLine? { try? Self.decoder.decode(EventLine.self, from: Data(line)) }

  /// As a drive writes it.
  private func line(_ event: Event, sequence: UInt32?) -> [UInt8] {
    Array(EventLine.json(event, beside: sequence.map { [.init("sequence", .integer(Int64($0)))] } ?? []).text.utf8)
  }

  private func randomPing(_ random: inout SeededGenerator) -> (event: Event, sequence: UInt32?) {
    let at = DriveTime(
      microseconds: .random(in: -10...999_999_999_999_999 >> Int.random(in: 0..<50, using: &random), using: &random))
    let rtt = Int64.random(in: 0...3_600_000_000_000 >> Int64.random(in: 0..<42, using: &random), using: &random)
    let outcome: PingOutcome =
      switch Int.random(in: 0..<4, using: &random) {
      case 0: .failed(PingFailure.allCases.randomElement(using: &random) ?? .timeout)
      case 1: .answered(rttNanoseconds: rtt)
      default: .answered(rttNanoseconds: rtt, isKernelStamped: true)
      }
    let sequence =
      Bool.random(using: &random)
      ? UInt32.random(in: 0 ... .max >> Int.random(in: 0..<32, using: &random), using: &random) : nil
    return (Event(at: at, .ping(outcome)), sequence)
  }

  @Test
  func `when a written ping is read, then the fast reader and the general decoder both give that ping`()
    throws
  {
    for seed in RandomOrders.seeds {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<10 {
        let (event, sequence) = randomPing(&random)
        let line = line(event, sequence: sequence)
        let read = try #require(EventLine(ping: line[...]), "\(String(decoding: line, as: UTF8.self))")
        #expect(read.event == event && read.pingSequence == sequence)
        let general = try #require(generally(line))
        #expect(general.event == event && general.pingSequence == sequence)
      }
    }
  }

  @Test func `when a ping line is damaged, then the fast reader agrees with the general decoder or leaves it the line`()
  {
    var lefts = 0
    for seed in RandomOrders.seeds {
      var random = SeededGenerator(seed: seed)
      for _ in 0..<20 {
        let (event, sequence) = randomPing(&random)
        let damaged = Self.damaged(line(event, sequence: sequence), &random)
        guard let read = EventLine(ping: damaged[...]) else {
          lefts += 1
          continue
        }
        let general = generally(damaged)
        let text = String(decoding: damaged, as: UTF8.self)
        #expect(read.event == general?.event && read.pingSequence == general?.pingSequence, "\(text)")
      }
    }
    #expect(lefts > 0)
  }

  /// Changes, removes, adds or moves some bytes, most of them characters of JSON.
  private static func damaged(_ line: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var line = line
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let place = Int.random(in: 0..<line.count, using: &random)
      let byte = "0123456789.-+eE,:{}[]\" \r\ttn".utf8.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: line[place] = byte
      case 2: line.insert(byte, at: place)
      case 3: line.remove(at: place)
      case 4: line.swapAt(place, Int.random(in: 0..<line.count, using: &random))
      default: line[place] = UInt8.random(in: 0...255, using: &random)
      }
    }
    return line
  }

  @Test(arguments: [
    #"{"at":1,"ping":{"rtt_ms":1.0}}"#, #"{"at":1.0,"ping":{"rtt_ms":1}}"#, #"{"at":01.0,"ping":{"rtt_ms":1.0}}"#,
    #"{"at":1.0,"ping":{"rtt_ms":1.0000001}}"#, #"{"at":1.0,"ping":{"rtt_ms":1.}}"#,
    #"{"at":1e3,"ping":{"rtt_ms":1.0}}"#, #"{"at":1.0,"ping":{"rtt_ms":-1.0}}"#,
    #"{"at":1.0,"ping":{"rtt_ms":3600000.000001}}"#, #"{"at":1000000000.0,"ping":{"rtt_ms":1.0}}"#,
    #"{"at":1.0,"ping":{"rtt_ms":1.0},"sequence":4294967296}"#, #"{"at":1.0,"ping":{"rtt_ms":1.0},"sequence":01}"#,
    #"{"at":1.0,"ping":{"rtt_ms":1.0},"late":true}"#, #"{"at":1.0,"ping":{"error":"unreachable"}}"#,
    #"{"at":1.0,"ping":{"rtt_ms":1.0}} "#, #"{"at":1.0,"ping":{"rtt_ms":1.0}"#, #"{"at":1.0,"late":{"rtt_ms":1.0}}"#,
    "",
  ])
  func `when a line has another form than the writer's, then it is left to the general decoder`(line: String) {
    #expect(EventLine(ping: Array(line.utf8)[...]) == nil)
  }
}
