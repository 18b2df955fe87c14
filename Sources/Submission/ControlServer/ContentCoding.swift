import CZlib
import Synchronization

/// Whether the server accepts compressed requests: an `Accept-Encoding` in an answer applies to requests (RFC 7694).
final class AcceptedCoding: Sendable {
  private let offersGzip = Atomic(false)
  /// The server offers gzip but a part of it does not understand it.
  private let isOfferWrong = Atomic(false)
  /// The server has answered a compressed body as it answers the same body uncompressed.
  private let isOfferTrue = Atomic(false)

  /// Whether a body may be compressed: `false` until the server offers it, and for good once it has refused a body because of it.
  var isGzip: Bool { offersGzip.load(ordering: .relaxed) && !isOfferWrong.load(ordering: .relaxed) }

  /// Whether `status` can be a refusal of the compression: 415 is, and 400 can be until the server has understood a compressed body.
  func mayRefuseCompression(for status: Int) -> Bool {
    if (200..<300).contains(status) { isOfferTrue.store(true, ordering: .relaxed) }
    return status == 415 || status == 400 && !isOfferTrue.load(ordering: .relaxed)
  }

  /// Compares the answers to the same body, compressed and uncompressed.
  func compare(compressed: Int, plain: Int) {
    if compressed == plain {
      isOfferTrue.store(true, ordering: .relaxed)
    } else {
      isOfferWrong.store(true, ordering: .relaxed)
    }
  }

  /// Applies an answer.
  /// - Parameter accepted: The `Accept-Encoding` of the answer; `nil` when it has none.
  func apply(_ accepted: String?, status: Int) {
    if let accepted {
      offersGzip.store(Self.namesGzip(accepted), ordering: .relaxed)
    } else if status == 415 {
      offersGzip.store(false, ordering: .relaxed)
    }
  }

  /// Whether the value of an `Accept-Encoding` header allows gzip.
  static func namesGzip(_ accepted: String) -> Bool {
    accepted.lowercased().split(separator: ",").contains { element in
      let parts = element.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      return (parts.first == "gzip" || parts.first == "x-gzip") && quality > 0
    }
  }
}

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
