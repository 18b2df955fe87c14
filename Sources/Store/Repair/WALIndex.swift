/// The index of a write-ahead log (`-shm`) that the last process left. After a kill it is exact; after a power cut it
/// has too few frames, or none. SQLite writes a new one at each start.
/// https://www.sqlite.org/walformat.html#the_wal_index_file_format
struct WALIndex: Hashable, Sendable {
  /// The number of frames of acknowledged transactions.
  let frames: UInt32
  /// The number of these frames that were copied into the store.
  let copied: UInt32
  /// The salts of the log that it belongs to.
  let salts: UInt64

  /// `nil` for a missing or damaged index.
  init?(_ path: String) {
    let size = 48
    guard let bytes = RawFile(path).read(0, 2 * size + 4), bytes[0..<size] == bytes[size..<2 * size],
      bytes[12] == 1
    else { return nil }
    // In the host's byte order, except the salts, which are copied from the log.
    func number(_ place: Int) -> UInt32 { UInt32(byteSwapping: bytes.number(place)) }
    guard number(0) == 3_007_000 else { return nil }
    var checksum = WALChecksum(.ofHost)
    checksum.add(bytes[0..<40])
    guard checksum.first == number(40), checksum.second == number(44) else { return nil }
    frames = number(16)
    copied = min(number(2 * size), frames)
    salts = UInt64(bytes.number(32)) << 32 | UInt64(bytes.number(36))
  }
}

extension UInt32 {
  /// From four bytes in the host's order that were read as big-endian.
  fileprivate init(byteSwapping number: UInt32) {
    self = WALChecksum.Order.ofHost == .big ? number : number.byteSwapped
  }
}
