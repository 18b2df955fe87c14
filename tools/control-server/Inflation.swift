import CZlib

/// Decompresses bodies with `Content-Encoding: gzip`.
enum Inflation {
  /// - Parameter limit: The largest size of the decompressed body in bytes.
  /// - Throws: ``Refusal`` for a body that is not gzip or too large.
  static func inflated(_ bytes: [UInt8], limit: Int) throws -> [UInt8] {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Refusal.format("no memory to decompress gzip")
    }
    defer { inflateEnd(&stream) }
    var input = bytes
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    try input.withUnsafeMutableBufferPointer { input in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      var code = Z_OK
      while code == Z_OK {
        let produced = chunk.withUnsafeMutableBufferPointer { chunk in
          stream.next_out = chunk.baseAddress
          stream.avail_out = uInt(chunk.count)
          code = inflate(&stream, Z_NO_FLUSH)
          return chunk.count - Int(stream.avail_out)
        }
        output += chunk[..<produced]
        if output.count > limit { throw Refusal.format("the body is too large") }
      }
      guard code == Z_STREAM_END else { throw Refusal.format("the body is not gzip") }
    }
    return output
  }
}
