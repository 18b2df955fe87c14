import CZlib
import Foundation
import GRDB

@testable import Export

/// Base maps for tests, made of tiles with the given contents.
enum BasemapFiles {
  /// A PNG header with a size: all that is read of an image.
  static func png(_ width: UInt32 = 256, _ height: UInt32 = 256, filling: Int = 8) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52] + big(width) + big(height)
      + (0..<filling).map { UInt8(truncatingIfNeeded: $0 &* 37) }
  }

  static func big(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }

  static func gzip(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    deflateInit2_(
      &stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size))
    defer { deflateEnd(&stream) }
    var (input, output) = (bytes, [UInt8](repeating: 0, count: bytes.count + 1024))
    let count = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
        (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(output.count))
        _ = deflate(&stream, Z_FINISH)
        return output.count - Int(stream.avail_out)
      }
    }
    return Array(output[..<count])
  }

  // MARK: PMTiles

  static func varint(_ value: UInt64) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    while rest > 127 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// Entries as number, run, length and offset.
  static func directory(_ entries: [[UInt64]]) -> [UInt8] {
    var (bytes, last) = (varint(UInt64(entries.count)), UInt64(0))
    for entry in entries {
      bytes += varint(entry[0] - last)
      last = entry[0]
    }
    for entry in entries { bytes += varint(entry[1]) }
    for entry in entries { bytes += varint(entry[2]) }
    for entry in entries { bytes += varint(entry[3] + 1) }
    return bytes
  }

  /// What the header says; each part can be made wrong.
  struct PMTiles {
    var version: UInt8 = 3
    var inside: UInt8 = 2
    var ofTiles: UInt8 = 1
    var type: UInt8 = 2
    var zooms: (UInt8, UInt8) = (0, 14)
    var metadata = #"{"attribution":"© Example"}"#
    var root: [UInt8]?
    /// Changes the numbers of the sections.
    var sections: ([UInt64]) -> [UInt64] = { $0 }

    /// The file, with a leaf directory for each `leafSize` tiles; 0: with the root alone.
    func bytes(_ tiles: [TilePlace: [UInt8]], leafSize: Int = 0) -> [UInt8] {
      func packed(_ bytes: [UInt8]) -> [UInt8] { inside == 2 ? BasemapFiles.gzip(bytes) : bytes }
      var (data, entries) = ([UInt8](), [[UInt64]]())
      for (place, content) in tiles.sorted(by: { $0.key.number < $1.key.number }) {
        entries.append([place.number, 1, UInt64(content.count), UInt64(data.count)])
        data += content
      }
      var leaves: [UInt8] = []
      if leafSize > 0 {
        var parents: [[UInt64]] = []
        for start in stride(from: 0, to: entries.count, by: leafSize) {
          let leaf = packed(BasemapFiles.directory(Array(entries[start..<min(start + leafSize, entries.count)])))
          parents.append([entries[start][0], 0, UInt64(leaf.count), UInt64(leaves.count)])
          leaves += leaf
        }
        entries = parents
      }
      let parts = [root ?? packed(BasemapFiles.directory(entries)), packed(Array(metadata.utf8)), leaves, data]
      var (numbers, at) = ([UInt64](), UInt64(127))
      for part in parts {
        numbers += [at, UInt64(part.count)]
        at += UInt64(part.count)
      }
      var header = Array("PMTiles".utf8) + [version]
      for number in sections(numbers) + [0, 0, 0] { header += withUnsafeBytes(of: number.littleEndian, Array.init) }
      header += [1, inside, ofTiles, type, zooms.0, zooms.1] + [UInt8](repeating: 0, count: 25)
      return header + parts.flatMap { $0 }
    }
  }

  // MARK: Vector tiles

  static func field(_ number: UInt64, _ bytes: [UInt8]) -> [UInt8] {
    varint(number << 3 | 2) + varint(UInt64(bytes.count)) + bytes
  }

  static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] {
    varint(number << 3) + varint(value)
  }

  /// A tile with one feature over all of it, from its north-west to its south-east corner.
  static func vectorTile(_ layer: String, kind: UInt64, tags: [String: String] = [:]) -> [UInt8] {
    let steps: [UInt64] = kind == 3 ? [9, 0, 0, 26, 8192, 0, 0, 8192, 8191, 0, 15] : [9, 0, 0, 10, 8192, 8192]
    var (feature, texts) = ([UInt8](), [UInt8]())
    let pairs = tags.sorted { $0.key < $1.key }
    for (key, _) in pairs { texts += field(3, Array(key.utf8)) }
    for (_, value) in pairs { texts += field(4, field(1, Array(value.utf8))) }
    feature += field(2, pairs.indices.flatMap { varint(UInt64($0)) + varint(UInt64($0)) })
    feature += field(3, kind) + field(4, steps.flatMap(varint))
    return field(3, field(1, Array(layer.utf8)) + field(2, feature) + texts + field(5, 4096))
  }

  // MARK: MBTiles

  /// Makes the file; `more` is SQL that runs before the tiles are added.
  static func mbtiles(
    _ path: String, _ tiles: [TilePlace: [UInt8]], metadata: [String: String] = ["format": "png"],
    schema: String = """
    CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);
    CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row);
    """
  ) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try database.execute(sql: schema)
      try database.execute(sql: "CREATE TABLE metadata (name TEXT, value TEXT)")
      for (name, value) in metadata {
        try database.execute(sql: "INSERT INTO metadata VALUES (?, ?)", arguments: [name, value])
      }
      for (place, content) in tiles {
        // Rows count from the south.
        try database.execute(
          sql: "INSERT INTO tiles VALUES (?, ?, ?, ?)",
          arguments: [place.zoom, place.column, (1 << place.zoom) - 1 - place.row, Data(content)])
      }
    }
    try queue.close()
  }
}
