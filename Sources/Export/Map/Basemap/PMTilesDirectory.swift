import Coverage

/// A directory of a PMTiles archive (spec v3, 4.2): where the tiles, or further directories, are in the file.
struct PMTilesDirectory: Sendable {
  /// Some consecutive tiles with the same content, or a leaf directory.
  struct Entry: Hashable, Sendable {
    /// The number of the first tile (``TilePlace/number``).
    let number: UInt64
    /// Relative to the section of the tiles, or of the leaf directories.
    let offset: UInt64
    let length: UInt64
    /// How many tiles have the content; 0: it is a leaf directory, for the tiles from here to the next entry.
    let run: UInt64
  }

  private let entries: [Entry]

  /// The largest directory in bytes, unpacked. The usual ones have some tens of kilobytes.
  static let mostBytes = 4 << 20

  /// Reads the unpacked bytes; `nil` when they are cut, have impossible numbers, or are not in order.
  init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.mostBytes else { return nil }
    var reader = Varints(bytes)
    // An entry has four numbers of a byte or more.
    guard let count = reader.next(), count <= UInt64(bytes.count / 4) else { return nil }
    guard let steps = reader.next(count), let runs = reader.next(count), let lengths = reader.next(count),
      let places = reader.next(count)
    else { return nil }
    var (entries, number) = ([Entry](), UInt64(0))
    entries.reserveCapacity(steps.count)
    for index in steps.indices {
      let (next, isTooLarge) = number.addingReportingOverflow(steps[index])
      guard !isTooLarge, index == 0 || steps[index] > 0, lengths[index] > 0 else { return nil }
      number = next
      // 0: behind the content of the entry before; else the offset plus 1.
      var offset = places[index] &- 1
      if places[index] == 0 {
        guard let last = entries.last else { return nil }
        let (end, isTooLarge) = last.offset.addingReportingOverflow(last.length)
        guard !isTooLarge else { return nil }
        offset = end
      }
      entries.append(Entry(number: number, offset: offset, length: lengths[index], run: runs[index]))
    }
    self.entries = entries
  }

  /// The tile of this number, or the leaf directory that may have it.
  func entry(of number: UInt64) -> Entry? {
    let next = entries.partitionPoint({ $0.number <= number })
    guard next > 0 else { return nil }
    let entry = entries[next - 1]
    return entry.run == 0 || number - entry.number < entry.run ? entry : nil
  }
}

/// Numbers of seven bits a byte, the lowest first.
private struct Varints {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// `nil` at the end, and for more than 64 bits.
  mutating func next() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), through: 63, by: 7) {
      guard at < bytes.count else { return nil }
      let byte = bytes[at]
      at += 1
      guard shift < 63 || byte < 2 else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  mutating func next(_ count: UInt64) -> [UInt64]? {
    var values: [UInt64] = []
    values.reserveCapacity(Int(clamping: count))
    for _ in 0..<count {
      guard let value = next() else { return nil }
      values.append(value)
    }
    return values
  }
}
