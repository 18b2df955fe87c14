import Foundation
import Synchronization

/// A PMTiles archive (https://github.com/protomaps/PMTiles, spec/v3). Each length in it is compared with a limit and with the
/// file before memory is reserved.
final class PMTiles: TileArchive {
  let isVector: Bool
  let zooms: ClosedRange<Int>
  let attribution: String?

  private let file: BasemapFile
  private let header: Header
  private let root: PMTilesDirectory
  /// The leaf directories that were read last, by their offsets.
  private let leaves = Mutex<[UInt64: PMTilesDirectory]>([:])

  static let magic = Array("PMTiles".utf8)
  /// Directories below the root; archives have one level.
  private static let mostLevels = 4
  private static let mostLeaves = 4
  /// Of the metadata in bytes, unpacked.
  private static let mostMetadata = 1 << 20

  init(_ file: BasemapFile) throws {
    self.file = file
    header = try Header(file)
    isVector = header.tileType == 1
    zooms = header.zooms
    guard let bytes = try header.section(header.root, of: file, atMost: PMTilesDirectory.mostBytes),
      let root = PMTilesDirectory(bytes)
    else { throw file.error("its root directory is damaged") }
    self.root = root
    // Metadata that cannot be read cost the attribution only.
    let metadata = try header.section(header.metadata, of: file, atMost: Self.mostMetadata)
    let object = metadata.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
    attribution = object?["attribution"] as? String
  }

  func bytes(of tile: TilePlace) throws -> [UInt8]? {
    var entry = root.entry(of: tile.number)
    for _ in 0..<Self.mostLevels {
      guard let found = entry else { return nil }
      // The directory has it: a tile or a leaf that cannot be had is damaged, as in a file that was cut.
      if found.run > 0 {
        return try file.read(header.tiles, found.offset, found.length, atMost: TileContent.mostBytes) ?? []
      }
      guard let leaf = try leaf(found) else { return [] }
      entry = leaf.entry(of: tile.number)
    }
    return nil
  }

  /// `nil` for one that is damaged.
  private func leaf(_ entry: PMTilesDirectory.Entry) throws -> PMTilesDirectory? {
    if let known = leaves.withLock({ $0[entry.offset] }) { return known }
    guard
      let bytes = try file.read(header.leaves, entry.offset, entry.length, atMost: PMTilesDirectory.mostBytes),
      let leaf = header.unpacked(bytes, atMost: PMTilesDirectory.mostBytes).flatMap(PMTilesDirectory.init)
    else { return nil }
    leaves.withLock { leaves in
      if leaves.count >= Self.mostLeaves { leaves = [:] }
      leaves[entry.offset] = leaf
    }
    return leaf
  }

  /// The first 127 bytes (spec v3, 3); numbers are little-endian.
  private struct Header: Sendable {
    let root, metadata, leaves, tiles: BasemapFile.Section
    let zooms: ClosedRange<Int>
    let tileType: UInt8
    /// Of directories and metadata.
    private let isPacked: Bool

    private static let compressions = ["an unknown method", "none", "gzip", "brotli", "zstd"]
    private static let types = ["an unknown kind", "mvt", "png", "jpeg", "webp", "avif", "mlt"]

    init(_ file: BasemapFile) throws {
      let whole = BasemapFile.Section(offset: 0, length: file.size)
      guard let bytes = try file.read(whole, 0, 127, atMost: 127) else { throw file.error("it is cut") }
      guard bytes[7] == 3 else { throw file.error("it is PMTiles version \(bytes[7]); version 3 is read") }
      func section(_ at: Int) -> BasemapFile.Section {
        func number(_ at: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[at + $1]) << UInt64(8 * $1) } }
        return BasemapFile.Section(offset: number(at), length: number(at + 8))
      }
      (root, metadata, leaves, tiles) = (section(8), section(24), section(40), section(56))
      let (inside, ofTiles) = (bytes[97], bytes[98])
      tileType = bytes[99]
      func name(_ names: [String], _ number: UInt8) -> String {
        Int(number) < names.count ? names[Int(number)] : names[0]
      }
      guard (1...4).contains(tileType) else {
        throw file.error(
          "its tiles are of \(name(Self.types, tileType)); vector (mvt), png, jpeg and webp are read")
      }
      // Images are not packed again; some writers say "unknown" there.
      let isTileReadable = tileType == 1 ? [1, 2].contains(ofTiles) : [0, 1].contains(ofTiles)
      guard [1, 2].contains(inside), isTileReadable else {
        let method = name(Self.compressions, [1, 2].contains(inside) ? ofTiles : inside)
        throw file.error("it is compressed by \(method); make it with gzip")
      }
      isPacked = inside == 2
      let (least, most) = (Int(bytes[100]), Int(bytes[101]))
      guard least <= most, most <= TilePlace.deepest else { throw file.error("it has zooms \(least) to \(most)") }
      zooms = least...most
    }

    /// All of a section, unpacked; `nil` when it is damaged or too large.
    func section(_ section: BasemapFile.Section, of file: BasemapFile, atMost limit: Int) throws -> [UInt8]? {
      try file.read(section, 0, section.length, atMost: limit).flatMap { unpacked($0, atMost: limit) }
    }

    func unpacked(_ bytes: [UInt8], atMost limit: Int) -> [UInt8]? {
      isPacked ? TileContent.unpacked(bytes, atMost: limit) : bytes
    }
  }
}
