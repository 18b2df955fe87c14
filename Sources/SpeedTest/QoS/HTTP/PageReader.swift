import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Reads an answer part by part, so that a large body needs no memory. Its calls come one after the other, on one event loop, so
/// its variables need no lock.
final class PageReader: HTTPClientResponseDelegate, @unchecked Sendable {
  typealias Response = FetchedPage

  /// The body is longer than permitted.
  struct TooLarge: Error {}

  private let most: Int64
  private let hash = BodyHash()
  private var status = 0
  private var header = ""

  private let traffic: TrafficCounter

  /// - Parameters:
  ///   - most: Bytes of a body; a longer one is given up.
  ///   - traffic: Counts the bytes of request and answer.
  init(most: Int64, _ traffic: TrafficCounter) { (self.most, self.traffic) = (most, traffic) }

  /// The head of a request: `GET URI HTTP/1.1`, a header a line with `: ` and CRLF, an empty line.
  func didSendRequestHead(task: HTTPClient.Task<FetchedPage>, _ head: HTTPRequestHead) {
    let headers = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    traffic.addSent(head.method.rawValue.utf8.count + head.uri.utf8.count + headers + 14)
  }

  func didReceiveHead(task: HTTPClient.Task<FetchedPage>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    status = Int(head.status.code)
    header = head.headers.map { "\($0.name): \($0.value)\n" }.joined()
    // `HTTP/1.1 200 OK`, CRLF at the end of each line, and an empty line.
    traffic.addReceived(17 + head.headers.reduce(2) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<FetchedPage>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    traffic.addReceived(buffer.readableBytes)
    buffer.withUnsafeReadableBytes { hash.add($0) }
    guard hash.length <= most else { return task.eventLoop.makeFailedFuture(TooLarge()) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<FetchedPage>) throws -> FetchedPage {
    FetchedPage(status: status, header: header, length: hash.length, hash: hash.digits())
  }
}
