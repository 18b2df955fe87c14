import Testing

@testable import Store

/// SQLite's checksum over a write-ahead log, in both byte orders.
struct WALChecksumTests {
  @Test(
    "when words are added, then the sums are those of SQLite's formula in the log's byte order",
    arguments: [
      (WALChecksum.Order.little, [1, 0, 0, 0, 2, 0, 0, 0], UInt32(1), UInt32(3)),
      (.big, [0, 0, 0, 1, 0, 0, 0, 2], 1, 3),
      (.little, [0, 0, 0, 1, 0, 0, 0, 2], 0x0100_0000, 0x0300_0000),
      // Sums wrap: 2³² - 1 and twice that.
      (.big, [UInt8](repeating: 255, count: 8), 0xFFFF_FFFF, 0xFFFF_FFFE),
      // The second pair of words adds to the sums of the first.
      (.big, [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4], 7, 14),
      (.little, [], 0, 0),
    ] as [(WALChecksum.Order, [UInt8], UInt32, UInt32)])
  func checksum(_ order: WALChecksum.Order, _ bytes: [UInt8], _ first: UInt32, _ second: UInt32) {
    var checksum = WALChecksum(order)
    checksum.add(bytes[...])
    #expect(checksum.first == first && checksum.second == second)
  }

  @Test(
    "when a log begins, then its first four bytes name the byte order, or it is no log",
    arguments: [
      (0x377F_0682, .little), (0x377F_0683, .big), (0x377F_0681, nil), (0x8206_7F37, nil), (0, nil),
    ] as [(UInt32, WALChecksum.Order?)])
  func order(_ magic: UInt32, _ order: WALChecksum.Order?) { #expect(WALChecksum.Order(magic: magic) == order) }
}
