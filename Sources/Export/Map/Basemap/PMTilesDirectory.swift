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
    var reader = WireReader(bytes[...])
    // An entry has four numbers of a byte or more.
    guard let count = reader.varint(), count <= UInt64(bytes.count / 4) else { return nil }
    func next() -> [UInt64]? {
      var numbers: [UInt64] = []
      numbers.reserveCapacity(Int(clamping: count))
      while numbers.count < count {
        guard let number = reader.varint() else { return nil }
        numbers.append(number)
      }
      return numbers
    }
    guard let steps = next(), let runs = next(), let lengths = next(), let places = next() else { return nil }
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
