/// The index of a write-ahead log (`-shm`), as the last process left it: after a kill it is exact, after a power cut it says less than
/// there is, or nothing. SQLite makes it anew at each start. https://www.sqlite.org/walformat.html#the_wal_index_file_format
struct WALIndex: Hashable, Sendable {
  /// Of acknowledged transactions.
  let frames: UInt32
  /// Of these, the ones that have been copied into the store.
  let copied: UInt32
  /// Of the log that it is of.
  let salts: UInt64

  /// `nil` for one that is missing, or damaged.
  init?(_ path: String) {
    let size = 48
    guard let bytes = RawFile(path).read(0, 2 * size + 4), bytes[0..<size] == bytes[size..<2 * size],
      bytes[12] == 1
    else { return nil }
    // In the host's byte order, but for the salts, which are copied from the log.
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
  /// From the four bytes of a number of the host's order that were read as big-endian.
  fileprivate init(byteSwapping number: UInt32) {
    self = WALChecksum.Order.ofHost == .big ? number : number.byteSwapped
  }
}
