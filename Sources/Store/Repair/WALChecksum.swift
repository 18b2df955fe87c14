/// SQLite's running checksum over the frames of a write-ahead log.
struct WALChecksum {
  /// The order in which the checksum reads words: that of the host that began the log.
  enum Order: Hashable {
    case little, big

    static var ofHost: Order { 1.littleEndian == 1 ? .little : .big }

    /// The byte order, from the first four bytes of a log.
    init?(magic: UInt32) {
      switch magic {
      case 0x377F_0682: self = .little
      case 0x377F_0683: self = .big
      default: return nil
      }
    }
  }

  private let order: Order
  private(set) var first: UInt32 = 0
  private(set) var second: UInt32 = 0

  /// The size of a frame's header, of which the checksum covers the first eight bytes.
  static let frameHeaderSize = 24

  init(_ order: Order) { self.order = order }

  /// The checksum that is stored at `place`, to continue from there.
  init(_ order: Order, storedIn bytes: [UInt8], at place: Int) {
    self.order = order
    (first, second) = (bytes.number(place), bytes.number(place + 4))
  }

  /// The checksum after a frame.
  /// - Parameter frame: Its header and its page.
  func adding(_ frame: [UInt8]) -> WALChecksum {
    var checksum = self
    checksum.add(frame[0..<8])
    checksum.add(frame[Self.frameHeaderSize...])
    return checksum
  }

  /// - Parameter bytes: Their number is a multiple of eight.
  mutating func add(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { bytes in
      for place in stride(from: 0, to: bytes.count - 7, by: 8) {
        first &+= word(bytes, place) &+ second
        second &+= word(bytes, place + 4) &+ first
      }
    }
  }

  private func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt32 {
    let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
    return order == .little ? UInt32(littleEndian: word) : UInt32(bigEndian: word)
  }

  /// Whether the checksum stored at `place` is this one; it is stored big-endian for both byte orders.
  func matches(_ bytes: [UInt8], at place: Int) -> Bool {
    bytes.number(place) == first && bytes.number(place + 4) == second
  }
}
