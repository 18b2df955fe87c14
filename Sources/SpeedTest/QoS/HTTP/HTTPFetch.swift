import Coverage
import Foundation
import Networking
import Pinging
import Store

/// A GET for HTTP proxy and website tests: no redirects, no cache, a separate connection. The certificate of the page must be valid.
struct HTTPFetch: Sendable {
  let url: String
  /// The value of `Range`.
  var range: String?
  /// ns for the connection.
  let connecting: Int64
  /// ns for all of it, the connection included.
  let whole: Int64

  /// Bytes of a body beyond which a fetch fails: 64 MiB.
  private static let largest = 64 << 20

  /// Blocks until the page is there.
  /// - Parameters:
  ///   - waiting: The limits of the test, beside `whole`.
  ///   - interface: The interface that all packets leave by; `nil`: the routes decide.
  ///   - traffic: Counts the bytes of head and body, without those that TLS adds.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` for a URL that is not HTTP or HTTPS, ``SpeedTestError/timeout(_:)``,
  ///   ``SpeedTestError/unreachable(_:)`` for other failures. Every status of HTTP is a page.
  func run(
    _ waiting: Waiting, family: IPVersion?, interface: String? = nil,
    traffic: TrafficCounter = TrafficCounter()
  ) throws(SpeedTestError) -> FetchedPage {
    guard ["http://", "https://"].contains(where: { url.lowercased().hasPrefix($0) }) else {
      throw .protocolError("a URL that cannot be fetched")
    }
    // Its calls come one after the other, on one thread, and end before the answer is here.
    nonisolated(unsafe) let hash = StreamedDigest(isMD5: true)
    var request = FetchRequest(url: url, limit: .nanoseconds(min(whole, waiting.deadline - waiting.clock.now())))
    request.connectionLimit = .nanoseconds(connecting)
    request.headers = ["Cache-Control": "no-cache", "User-Agent": "coverage-probe"]
    if let range { request.headers["Range"] = range }
    request.acceptsGzip = false
    request.connection = .fresh(interface: interface, version: family)
    request.longestBody = Self.largest
    request.onBody = { hash.add($0) }
    do {
      let answer = try Fetcher().wait(for: request, unless: waiting.clock.isAborted)
      traffic.add(answer.traffic)
      guard !answer.isCutOff else { throw SpeedTestError.unreachable("a page of more than 64 MiB") }
      return FetchedPage(
        status: answer.status, header: answer.headers.map { "\($0.name): \($0.value)\n" }.joined(), length: hash.bytes,
        hash: hash.hexadecimal())
    } catch let failure as FetchFailure {
      traffic.add(failure.traffic)
      throw Self.error(failure)
    } catch let error as SpeedTestError {
      throw error
    } catch {
      throw .unreachable("\(error)")
    }
  }

  private static func error(_ failure: FetchFailure) -> SpeedTestError {
    switch failure.cause {
    case .timeout: .timeout("the page")
    case .cancelled: .aborted
    case .noAddress(let host): .unresolved(NameError(name: host, reason: "it has none now, or none of this IP version"))
    case .system(let code), .interface(_, let code): .unreachable(String(cString: strerror(code)))
    case .brokenOff(let count, let whole):
      .unreachable("the page ended after \(count)\(whole.map { " of \($0)" } ?? "") bytes")
    default: .unreachable("\(failure.cause)")
    }
  }
}

extension TrafficCounter {
  fileprivate func add(_ traffic: FetchAnswer.Traffic) {
    addSent(traffic.sent)
    addReceived(traffic.received)
  }
}

/// The answer to a GET.
struct FetchedPage: Hashable, Sendable {
  let status: Int
  /// `Name: value`, a line each, as they came.
  let header: String
  /// Bytes of the body.
  let length: Int64
  /// The body's MD5 in hexadecimal digits.
  let hash: String
}
