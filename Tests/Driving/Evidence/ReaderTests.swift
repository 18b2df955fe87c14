import Testing

@testable import Driving

/// Capture files, byte by byte.
struct ReaderTests {
  /// One packet of four bytes, as the probe writes it.
  static let file = hex(
    """
    0A0D0D0A 1C000000         | section header, 28 bytes
    4D3C2B1A 0100 0000        | little-endian, version 1.0
    FFFFFFFF FFFFFFFF         | of unknown length
    1C000000
    01000000 20000000         | interface, 32 bytes
    6500 0000 A0000000        | raw IP, 160 bytes of a packet
    0900 0100 09000000        | times in 10^-9 s
    0000 0000                 | end of options
    20000000
    06000000 24000000         | packet, 36 bytes
    00000000                  | on interface 0
    40420F00 15CD5B07         | at 0x000F4240_075BCD15
    04000000 1C000000         | 4 bytes of 28
    45000018
    24000000
    05000000 4C000000         | statistics, 76 bytes
    00000000 40420F00 00000000
    0500 0800 0200000000000000  | dropped by the interface: 2
    0600 0800 0A00000000000000  | passed the filter: 10
    0700 0800 0300000000000000  | dropped by the kernel: 3
    0800 0800 0100000000000000  | in the file: 1
    0000 0000
    4C000000
    """)

  @Test("when a file is whole, then its packets and its counters are read")
  func whole() throws {
    let file = try CaptureFile(Self.file)
    #expect(file.damage == nil)
    #expect(file.packets.map(\.stamp) == [0x000F_4240_075B_CD15])
    #expect(file.packets.map(\.linkType) == [101])
    #expect(file.packets.map(\.bytes.array) == [[0x45, 0, 0, 0x18]])
    #expect(file.statistics == CaptureStatistics(accepted: 10, delivered: 1, dropped: 5))
    #expect(file.statistics?.missing == 9)
  }

  @Test("when a file is cut off anywhere, then all whole packets before the cut are read, and the damage is reported")
  func cut() throws {
    let boundaries = [28, 60, 96, Self.file.count]
    for length in 0..<Self.file.count {
      guard length >= 12 else {
        #expect(throws: CaptureFileError.notACapture) { try CaptureFile(Array(Self.file.prefix(length))) }
        continue
      }
      let file = try CaptureFile(Array(Self.file.prefix(length)))
      #expect(file.packets.count == (length >= 96 ? 1 : 0))
      #expect((file.damage == nil) == boundaries.contains(length), "cut at \(length)")
    }
  }

  @Test("when a length is wrong, then reading stops there", arguments: [28 + 4, 60 + 4, 60 + 20, 96 + 4])
  func lies(offset: Int) throws {
    for lie in [[0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0xFC, 0xFF, 0xFF, 0x7F], [8, 0, 0, 0], [0x25, 0, 0, 0]]
      as [[UInt8]]
    {
      var bytes = Self.file
      bytes.replaceSubrange(offset..<offset + 4, with: lie)
      let file = try CaptureFile(bytes)
      if offset == 60 + 20 {
        // A packet without bytes, or a packet whose bytes are missing.
        #expect(file.packets.allSatisfy { $0.bytes.count <= 4 })
        #expect(file.packets.count + file.unusable == 1)
      } else {
        #expect(file.damage != nil, "\(lie) at \(offset)")
      }
    }
  }

  @Test("when any byte is replaced by any value, then reading still ends")
  func anyByte() {
    for offset in Self.file.indices {
      for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
        var bytes = Self.file
        bytes[offset] = value
        let file = try? CaptureFile(bytes)
        #expect((file?.packets.count ?? 0) <= 1)
        _ = file.map { RoundTrips($0.packets) }
      }
    }
  }

  @Test("when a section is big-endian, then it is read too")
  func bigEndian() throws {
    let file = try CaptureFile(
      hex(
        """
        0A0D0D0A 0000001C 1A2B3C4D 0001 0000 FFFFFFFF FFFFFFFF 0000001C
        00000001 00000014 0001 0000 00000000 00000014 | Ethernet, microseconds
        00000006 00000020 00000000 00000000 0000000A 00000000 00000000 00000020
        """))
    #expect(file.damage == nil)
    #expect(file.packets.map(\.stamp) == [10_000])
  }

  @Test("when times are of any resolution, then they are converted to nanoseconds, or dropped if they do not fit")
  func resolutions() {
    func time(_ resolution: UInt8, _ ticks: UInt64, offset: Int64 = 0) -> Int64? {
      TickLength(resolution: resolution, offset: offset).nanoseconds(ticks)
    }
    #expect(time(9, 1_800_000_000_123_456_789) == 1_800_000_000_123_456_789)
    #expect(time(6, 1_800_000_000_123_456) == 1_800_000_000_123_456_000)
    #expect(time(0, 5, offset: 7) == 12_000_000_000)
    #expect(time(12, 5999) == 5)
    #expect(time(0x80 | 10, 3 << 10 | 512) == 3_500_000_000)
    #expect(time(0x80 | 63, 1 << 62) == 500_000_000)
    for resolution in UInt8.min...UInt8.max {
      for ticks in [0, 1, UInt64.max, UInt64.max / 2] { _ = time(resolution, ticks, offset: .max) }
    }
    #expect(time(6, .max) == nil)
    #expect(time(9, .max) == nil)
    #expect(time(9, 0, offset: .min) == nil)
    #expect(time(9, 999_999_999, offset: -1) == nil)
    #expect(time(9, 1_000_000_000, offset: -1) == 0)
  }

  @Test("when a file is a pcap file, then it is read up to its end or to a cut")
  func pcap() throws {
    let bytes = hex(
      """
      4D3CB2A1 0200 0400 00000000 00000000 FFFF0000 65000000 | nanoseconds, little-endian, raw IP
      01000000 02000000 02000000 02000000 4500
      02000000 00000000 04000000 04000000 45000000
      """)
    let file = try CaptureFile(bytes)
    #expect(file.packets.map(\.stamp) == [1_000_000_002, 2_000_000_000])
    for length in 24..<bytes.count {
      let cut = try CaptureFile(Array(bytes.prefix(length)))
      #expect(cut.packets.count == (length >= 42 ? 1 : 0))
      #expect((cut.damage == nil) == [24, 42].contains(length))
    }
  }
}
