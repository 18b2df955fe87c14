import CZlib

/// What a tile has, checked before a browser gets it: the file is from outside, and a small tile can unfold to gigabytes.
enum TileContent {
  /// The largest tile in bytes, as stored and unpacked. Tiles of the usual schemas have up to 0.5 MB.
  static let mostBytes = 4 << 20
  /// The widest and highest image in pixels; usual are 256 and 512.
  private static let mostPixels = 1024

  /// Whether `bytes` are a tile that a page may have.
  /// - Parameter isVector: Whether the file has vector tiles.
  static func isGood(_ bytes: [UInt8], isVector: Bool) -> Bool {
    guard !bytes.isEmpty, bytes.count <= mostBytes else { return false }
    if isVector { return !isGzip(bytes) || unpacked(bytes, atMost: mostBytes) != nil }
    guard let (width, height) = imageSize(bytes) else { return false }
    return (1...mostPixels).contains(width) && (1...mostPixels).contains(height)
  }

  static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

  /// The content of gzip data; `nil` for anything else, and for more than `limit` bytes.
  static func unpacked(_ bytes: [UInt8], atMost limit: Int) -> [UInt8]? {
    var stream = z_stream()
    // 16 more window bits: the gzip format.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var (input, output) = (bytes, [UInt8]())
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    return input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(clamping: input.count)
      while true {
        let (code, produced) = piece.withUnsafeMutableBufferPointer { piece in
          stream.next_out = piece.baseAddress
          stream.avail_out = uInt(clamping: piece.count)
          return (inflate(&stream, Z_NO_FLUSH), piece.count - Int(stream.avail_out))
        }
        output += piece[..<produced]
        guard output.count <= limit else { return nil }
        if code == Z_STREAM_END { return output }
        guard code == Z_OK else { return nil }
      }
    }
  }

  /// The media type of a PNG, JPEG or WebP image, by its first bytes; `nil` for anything else.
  static func mediaType(_ bytes: [UInt8]) -> String? {
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    let isWebP = bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
    return isWebP ? "image/webp" : nil
  }

  /// Width and height of an image in pixels, by its header; `nil` for anything else.
  static func imageSize(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    switch mediaType(bytes) {
    case "image/png": number(bytes, at: 16, 4).flatMap { width in number(bytes, at: 20, 4).map { (width, $0) } }
    case "image/jpeg": sizeOfJPEG(bytes)
    case "image/webp": sizeOfWebP(bytes)
    default: nil
    }
  }

  /// Walks from marker to marker to the start of the frame (ITU-T T.81, B.1 and B.2.2).
  private static func sizeOfJPEG(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    var at = 2
    while at + 4 <= bytes.count, bytes[at] == 0xFF {
      let marker = bytes[at + 1]
      if marker == 0xFF {
        at += 1
        continue
      }
      if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
        return number(bytes, at: at + 5, 2).flatMap { height in number(bytes, at: at + 7, 2).map { ($0, height) } }
      }
      guard let length = number(bytes, at: at + 2, 2), length >= 2 else { return nil }
      at += 2 + length
    }
    return nil
  }

  /// The first chunk has the size (RFC 9649, 2.5 to 2.7).
  private static func sizeOfWebP(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    guard bytes.count >= 30 else { return nil }
    func little(_ at: Int, _ count: Int) -> Int { (0..<count).reduce(0) { $0 | Int(bytes[at + $1]) << (8 * $1) } }
    switch String(decoding: bytes[12..<16], as: UTF8.self) {
    case "VP8X": return (little(24, 3) + 1, little(27, 3) + 1)
    case "VP8L": return (little(21, 4) & 0x3FFF + 1, little(21, 4) >> 14 & 0x3FFF + 1)
    case "VP8 ": return (little(26, 2) & 0x3FFF, little(28, 2) & 0x3FFF)
    default: return nil
    }
  }

  /// A big-endian number; `nil` beyond the end.
  private static func number(_ bytes: [UInt8], at: Int, _ count: Int) -> Int? {
    guard at + count <= bytes.count else { return nil }
    return bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) }
  }
}
