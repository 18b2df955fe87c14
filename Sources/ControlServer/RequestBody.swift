import NIOCore
import Synchronization

/// The body of a request in one piece, and whether a connection has taken it. Until then the server cannot have the request: it handles
/// none without its body.
final class RequestBody: AsyncSequence, Sendable {
  private let bytes: ByteBuffer
  private let taken = Atomic(false)

  init(_ bytes: ByteBuffer) { self.bytes = bytes }

  var length: Int { bytes.readableBytes }

  /// Whether a connection has taken the bytes.
  var isTaken: Bool { taken.load(ordering: .acquiring) }

  func makeAsyncIterator() -> Iterator { Iterator(body: self) }

  private func take() -> ByteBuffer {
    taken.store(true, ordering: .releasing)
    return bytes
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate var body: RequestBody?

    mutating func next() async throws -> ByteBuffer? {
      defer { body = nil }
      return body?.take()
    }
  }
}
