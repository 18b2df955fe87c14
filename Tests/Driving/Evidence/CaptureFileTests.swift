import Foundation
import TestSupport
import Testing

@testable import Driving

/// Capture files of other programs, and files that are no captures.
struct CaptureFileTests {
  private static let section = hex("0A0D0D0A 1C000000 4D3C2B1A 0100 0000 FFFFFFFF FFFFFFFF 1C000000")
  /// Raw IP with times in nanoseconds, and Ethernet with microseconds.
  private static let rawIP = hex("01000000 20000000 6500 0000 00000000 0900 0100 09000000 0000 0000 20000000")
  private static let ethernet = hex("01000000 14000000 0100 0000 00000000 14000000")

  /// A packet of two bytes.
  private static func packet(_ interface: UInt8, _ ticks: UInt8) -> [UInt8] {
    hex("06000000 24000000") + [interface, 0, 0, 0] + hex("00000000") + [ticks, 0, 0, 0]
      + hex("02000000 02000000 45000000 24000000")
  }

  @Test("when packets are of several interfaces, then each has the time unit and the link type of its interface")
  func interfaces() throws {
    let file = try CaptureFile(Self.section + Self.rawIP + Self.ethernet + Self.packet(0, 5) + Self.packet(1, 5))
    #expect(file.damage == nil)
    #expect(file.packets.map(\.stamp) == [5, 5000])
    #expect(file.packets.map(\.linkType) == [101, 1])
    #expect(file.packets.map(\.bytes.count) == [2, 2])
  }

  @Test("when a packet has an undescribed interface, then it is counted as unusable, and the next packet is read")
  func unknownInterface() throws {
    let file = try CaptureFile(Self.section + Self.rawIP + Self.packet(7, 1) + Self.packet(0, 2))
    #expect(file.unusable == 1)
    #expect(file.packets.map(\.stamp) == [2])
    #expect(file.damage == nil)
  }

  @Test("when files are joined, then the interfaces of the first section do not count in the second one")
  func sections() throws {
    let file = try CaptureFile(
      Self.section + Self.ethernet + Self.packet(0, 1) + Self.section + Self.rawIP + Self.packet(0, 2))
    #expect(file.packets.map(\.stamp) == [1000, 2])
    #expect(file.packets.map(\.linkType) == [1, 101])
  }

  @Test("when a file has blocks of a kind that this program does not know, then they are skipped")
  func unknownBlocks() throws {
    let comment = hex("0A000000 10000000 DEADBEEF 10000000")
    let file = try CaptureFile(Self.section + comment + Self.rawIP + comment + Self.packet(0, 3))
    #expect(file.packets.map(\.stamp) == [3])
    #expect(file.damage == nil)
  }

  @Test(
    "when the bytes are no capture, then the error reports it in one line",
    arguments: ["", "no capture at all, but long enough for a header"])
  func noCapture(text: String) throws {
    let error = #expect(throws: CaptureFileError.self) { try CaptureFile(Array(text.utf8)) }
    #expect(try #require(error).description == "not a capture file: it starts neither like pcapng nor like pcap")
  }

  @Test("when a pcap file is big-endian with microseconds, then its times are converted to nanoseconds")
  func bigEndianPcap() throws {
    let file = try CaptureFile(
      hex(
        """
        A1B2C3D4 0002 0004 00000000 00000000 0000FFFF 00000001
        00000003 0000000A 00000002 00000002 4500
        FFFFFFFF 000F423F 00000000 00000000
        """))
    #expect(file.packets.map(\.stamp) == [3_000_010_000, 4_294_967_295_999_999_000])
    #expect(file.packets.map(\.linkType) == [1, 1])
  }

  @Test("when a pcap packet claims four gigabytes, then reading stops there and keeps the earlier packets")
  func hugePcap() throws {
    let file = try CaptureFile(
      hex(
        """
        4D3CB2A1 0200 0400 00000000 00000000 FFFF0000 65000000
        01000000 02000000 02000000 02000000 4500
        02000000 00000000 FFFFFFFF FFFFFFFF 45000000
        """))
    #expect(file.packets.count == 1)
    #expect(file.damage == "at byte 42: a packet is cut off")
  }

  @Test(
    "when the counters of a file are impossible, then the number of missing packets is not negative, without an overflow"
  )
  func statistics() {
    #expect(CaptureStatistics(accepted: 1, delivered: 5, dropped: 0).missing == 0)
    #expect(CaptureStatistics(accepted: .max, delivered: 0, dropped: 3).missing == .max)
    #expect(CaptureStatistics(accepted: 2, delivered: 2, dropped: 9).missing == 9)
    let sum =
      CaptureStatistics(accepted: .max, delivered: 1, dropped: .max) + .init(accepted: 2, delivered: 1, dropped: 2)
    #expect(sum.delivered == 2)
  }
}
