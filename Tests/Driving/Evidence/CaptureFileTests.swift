import Testing

@testable import Driving

/// Capture files byte by byte, whole, cut off and damaged.
struct CaptureFileTests {
  /// Nanoseconds, little-endian, raw IP, as the probe writes it: a packet of two bytes and one of four.
  private static let header = hex("4D3CB2A1 0200 0400 00000000 00000000 A0000000 65000000")
  private static let packets = hex(
    """
    01000000 02000000 02000000 1C000000 4500
    02000000 FFC99A3B 04000000 04000000 45000018
    """)
  private static let file = header + packets

  @Test("when a file is whole, then its packets are read with stamps in nanoseconds")
  func whole() throws {
    let file = try CaptureFile(Self.file)
    #expect((file.damage, file.unusable) == (nil, 0))
    #expect(file.packets.map(\.stamp) == [1_000_000_002, 2_999_999_999])
    // DLT_RAW.
    #expect(file.packets.map(\.linkType) == [12, 12])
    #expect(file.packets.map(\.bytes.array) == [[0x45, 0], [0x45, 0, 0, 0x18]])
  }

  @Test("when a file is cut off anywhere, then all whole packets before the cut are read, and one line has the damage")
  func cut() throws {
    for length in 0..<Self.file.count {
      let bytes = Array(Self.file.prefix(length))
      if length < 24 {
        let error = #expect(throws: CaptureFileError.self) { try CaptureFile(bytes) }
        #expect(try #require(error).description.hasPrefix("not a capture file: "))
        continue
      }
      let file = try CaptureFile(bytes)
      #expect(file.packets.count == (length >= 42 ? 1 : 0))
      #expect((file.damage == nil) == [24, 42].contains(length), "cut at \(length)")
      #expect(file.damage?.contains("\n") != true)
    }
    let damage = try CaptureFile(Self.file.dropLast()).damage
    #expect(damage == "behind packet 1: truncated dump file; tried to read 4 captured bytes, only got 3")
  }

  @Test("when a packet claims four gigabytes, then reading stops there and keeps the earlier packets")
  func huge() throws {
    let file = try CaptureFile(Self.file + hex("03000000 00000000 FFFFFFFF FFFFFFFF 45000000") + Self.packets)
    #expect(file.packets.count == 2)
    #expect(file.damage?.hasPrefix("behind packet 2: invalid packet capture length 4294967295") == true)
  }

  @Test("when any byte is replaced by any value, then reading ends, and no packet is longer than the file")
  func anyByte() {
    for offset in Self.file.indices {
      for value in UInt8.min...UInt8.max {
        var bytes = Self.file
        bytes[offset] = value
        let file = try? CaptureFile(bytes)
        #expect((file?.packets.count ?? 0) <= 4)
        #expect(file?.packets.allSatisfy { $0.bytes.count <= bytes.count } != false)
        _ = file.map { RoundTrips($0.packets) }
      }
    }
  }

  @Test("when a file is big-endian with microseconds, then its times are converted to nanoseconds, to the year 2106")
  func bigEndian() throws {
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

  private static let section = hex("0A0D0D0A 1C000000 4D3C2B1A 0100 0000 FFFFFFFF FFFFFFFF 1C000000")
  /// A packet of two bytes.
  private static let packet = hex(
    "06000000 24000000 00000000 00000000 05000000 02000000 02000000 45000000 24000000")

  @Test("when a file of another program is pcapng, then its packets are read with the times of their interface")
  func pcapng() throws {
    let microseconds = hex("01000000 14000000 6500 0000 A0000000 14000000")
    // if_tsresol 10^-9, if_tsoffset 100 s.
    let offset = hex(
      "01000000 2C000000 6500 0000 A0000000 0900 0100 09000000 0E00 0800 6400000000000000 0000 0000 2C000000")
    #expect(try CaptureFile(Self.section + microseconds + Self.packet).packets.map(\.stamp) == [5000])
    #expect(try CaptureFile(Self.section + offset + Self.packet).packets.map(\.stamp) == [100_000_000_005])
  }

  @Test("when a time does not fit 64 bits of nanoseconds, then the packet is counted as unusable, and the next is read")
  func impossibleTimes() throws {
    // if_tsresol 1 s.
    let seconds = hex("01000000 20000000 6500 0000 A0000000 0900 0100 00000000 0000 0000 20000000")
    let late = hex("06000000 24000000 00000000 FF000000 05000000 02000000 02000000 45000000 24000000")
    let file = try CaptureFile(Self.section + seconds + late + Self.packet)
    #expect((file.unusable, file.damage) == (1, nil))
    #expect(file.packets.map(\.stamp) == [5_000_000_000])
  }

  @Test(
    "when the bytes are no capture, then the error reports it in one line",
    arguments: [("no capture at all, but long enough for a header", "unknown file format"), ("", "")])
  func noCapture(text: String, reason: String) throws {
    let error = #expect(throws: CaptureFileError.self) { try CaptureFile(Array(text.utf8)) }
    #expect(try #require(error).description.hasPrefix("not a capture file: \(reason)"))
    #expect(error?.description.contains("\n") == false)
  }
}
