import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Takes an answer in part by part, so that a large body needs no memory. Its calls come one after the other, on one event loop.
final class PageReader: HTTPClientResponseDelegate, @unchecked Sendable {
  typealias Response = FetchedPage

  struct TooLarge: Error {}

  private let most: Int64
  private let hash = BodyHash()
  private var status = 0
  private var header = ""

  /// - Parameter most: Bytes of a body; a longer one is given up.
  init(most: Int64) { self.most = most }

  func didReceiveHead(task: HTTPClient.Task<FetchedPage>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
    status = Int(head.status.code)
    header = head.headers.map { "\($0.name): \($0.value)\n" }.joined()
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(task: HTTPClient.Task<FetchedPage>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
    buffer.withUnsafeReadableBytes { hash.add($0) }
    guard hash.length <= most else { return task.eventLoop.makeFailedFuture(TooLarge()) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<FetchedPage>) throws -> FetchedPage {
    FetchedPage(status: status, header: header, length: hash.length, hash: hash.digits())
  }
}
