import CZlib
import Synchronization

/// What the server has said that it takes (RFC 7694): an `Accept-Encoding` of an answer is about requests.
final class AcceptedCoding: Sendable {
  private let takesGzip = Atomic(false)
  /// Some servers offer what a part of them does not understand.
  private let isOfferWrong = Atomic(false)
  /// Whether the server has judged a packed body as the same one unpacked.
  private let isOfferTrue = Atomic(false)

  /// Whether a body may be compressed; `false` until the server says so, and for good once it has refused one for that.
  var isGzip: Bool { takesGzip.load(ordering: .relaxed) && !isOfferWrong.load(ordering: .relaxed) }

  /// Whether this answer to a packed body may be about the packing: 415 is, and 400 until it is known better.
  func mayBlamePacking(for status: Int) -> Bool {
    if (200..<300).contains(status) { isOfferTrue.store(true, ordering: .relaxed) }
    return status == 415 || status == 400 && !isOfferTrue.load(ordering: .relaxed)
  }

  /// - Parameters:
  ///   - packed: The answer to a packed body.
  ///   - plain: To the same one unpacked.
  func noteRefusal(packed: Int, plain: Int) {
    if packed == plain {
      isOfferTrue.store(true, ordering: .relaxed)
    } else {
      isOfferWrong.store(true, ordering: .relaxed)
    }
  }

  /// - Parameter accepted: The `Accept-Encoding` of an answer; `nil`: it says nothing.
  func note(_ accepted: String?, status: Int) {
    if let accepted {
      takesGzip.store(Self.namesGzip(accepted), ordering: .relaxed)
    } else if status == 415 {
      takesGzip.store(false, ordering: .relaxed)
    }
  }

  static func namesGzip(_ accepted: String) -> Bool {
    accepted.lowercased().split(separator: ",").contains { element in
      let parts = element.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      return (parts.first == "gzip" || parts.first == "x-gzip") && quality > 0
    }
  }
}

enum Gzip {
  /// Smaller bodies gain nothing.
  static let leastSize = 1024
  /// zlib's way to ask for gzip's own wrapping.
  private static let windowBits: CInt = 15 + 16

  /// `nil` when zlib has no memory.
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
