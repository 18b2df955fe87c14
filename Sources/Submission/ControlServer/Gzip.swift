import CZlib

/// Compresses request bodies.
enum Gzip {
  /// In bytes. Compressing smaller bodies saves nothing.
  static let leastSize = 1024
  /// zlib writes the gzip format when 16 is added to the window bits.
  private static let windowBits: CInt = 15 + 16

  /// `bytes` in the gzip format; `nil` when zlib is out of memory.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    guard
      deflateInit2_(
        &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        CInt(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { deflateEnd(&stream) }
    var input = bytes
    let bound = Int(deflateBound(&stream, uLong(bytes.count)))
    let output = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
      input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = uInt(input.count)
        stream.next_out = output.baseAddress
        stream.avail_out = uInt(output.count)
        if deflate(&stream, Z_FINISH) == Z_STREAM_END { count = output.count - Int(stream.avail_out) }
      }
    }
    return output.isEmpty ? nil : output
  }
}
