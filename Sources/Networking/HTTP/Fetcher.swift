import CCurl
import Foundation

/// Sends requests over HTTP by Debian's libcurl, on one thread of its own, and keeps their connections for later requests. libcurl
/// parses every byte of the peers.
public final class Fetcher: Sendable {
  private let loop = TransferLoop()

  /// The thread begins with the first request.
  public init() {}

  /// Closes the connections.
  deinit { loop.end() }

  /// Sends a request and waits for its answer. Cancelling the task ends the request at once.
  /// - Throws: ``FetchFailure``. Every status is an answer.
  public func fetch(_ request: FetchRequest) async throws(FetchFailure) -> FetchAnswer {
    let transfer = Transfer(request)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        loop.start(transfer) { continuation.resume(returning: $0) }
      }
    } onCancel: {
      transfer.cancel()
      loop.wake()
    }
    return try result.get()
  }

  /// Sends a request, and blocks this thread until its answer is there, or `isOver` is true: it is asked every 50 ms.
  /// - Throws: ``FetchFailure``, with ``FetchFailure/Cause/cancelled`` after `isOver`.
  public func wait(for request: FetchRequest, unless isOver: () -> Bool) throws(FetchFailure) -> FetchAnswer {
    let transfer = Transfer(request)
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var result = Result<FetchAnswer, FetchFailure>.failure(FetchFailure(.cancelled))
    loop.start(transfer) {
      result = $0
      done.signal()
    }
    while done.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
      if isOver() {
        transfer.cancel()
        loop.wake()
      }
    }
    return try result.get()
  }
}

/// The thread of a ``Fetcher``: libcurl's loop. The lock guards what other threads touch; the rest belongs to the thread.
private final class TransferLoop: @unchecked Sendable {
  private let lock = NSLock()
  private var arrived: [Transfer] = []
  private var multi: UnsafeMutableRawPointer?
  private var isEnded = false

  /// libcurl's own state, once a process.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  func start(_ transfer: Transfer, _ completion: @escaping @Sendable (Result<FetchAnswer, FetchFailure>) -> Void) {
    transfer.completion = completion
    let isAccepted = lock.withLock {
      guard !isEnded, Self.isReady else { return false }
      if multi == nil {
        guard let multi = curl_multi_init() else { return false }
        // Where the process may open no more files, libcurl makes a loop that nothing can wake.
        guard curl_multi_wakeup(multi) == CURLM_OK else {
          curl_multi_cleanup(multi)
          return false
        }
        self.multi = multi
        let thread = Thread { [self] in run() }
        thread.name = "http"
        thread.stackSize = 512 << 10
        thread.start()
      }
      arrived.append(transfer)
      curl_multi_wakeup(multi)
      return true
    }
    if !isAccepted { transfer.finish(.refused("libcurl cannot begin; has the process too many open files?")) }
  }

  func wake() {
    lock.withLock { if let multi { curl_multi_wakeup(multi) } }
  }

  func end() {
    lock.withLock {
      isEnded = true
      if let multi { curl_multi_wakeup(multi) }
    }
  }

  private func run() {
    guard let multi = lock.withLock({ multi }) else { return }
    blockPipeSignal()
    var running: [UnsafeMutableRawPointer: Transfer] = [:]
    /// The address of the last answer to such requests (``Transfer/destination``).
    var addresses: [String: String] = [:]
    func finish(_ easy: UnsafeMutableRawPointer, _ end: Transfer.End) {
      curl_multi_remove_handle(multi, easy)
      guard let transfer = running.removeValue(forKey: easy) else { return }
      if case .code(CURLE_OK) = end, let destination = transfer.destination {
        addresses[destination] = ccurl_address(easy).map { String(cString: $0) }
      }
      transfer.finish(end)
    }
    func lookUpFailed(_ easy: UnsafeMutableRawPointer, _ transfer: Transfer) {
      curl_multi_remove_handle(multi, easy)
      if transfer.isLookingUp, let address = transfer.destination.flatMap({ addresses[$0] }) {
        transfer.connect(to: address)
        if curl_multi_add_handle(multi, easy) == CURLM_OK { return }
      }
      finish(easy, .code(CURLE_COULDNT_RESOLVE_HOST))
    }
    while true {
      let (new, isEnding) = lock.withLock {
        defer { arrived = [] }
        return (arrived, isEnded)
      }
      for transfer in new {
        guard let easy = transfer.begin() else { continue }
        guard curl_multi_add_handle(multi, easy) == CURLM_OK else {
          transfer.finish(.refused("libcurl cannot take it"))
          continue
        }
        running[easy] = transfer
      }
      for (easy, transfer) in running where isEnding || transfer.isCancelled { finish(easy, .cancelled) }
      guard !isEnding else { break }
      var count: CInt = 0
      curl_multi_perform(multi, &count)
      while let message = curl_multi_info_read(multi, &count)?.pointee {
        guard message.msg == CURLMSG_DONE, let easy = message.easy_handle else { continue }
        let (result, transfer) = (message.data.result, running[easy])
        let isOver = result == CURLE_OPERATION_TIMEDOUT && transfer?.destination != nil && transfer?.isLookingUp == true
        if result == CURLE_COULDNT_RESOLVE_HOST || isOver, let transfer {
          lookUpFailed(easy, transfer)
        } else {
          finish(easy, .code(result))
        }
      }
      // Without another address, a name server that is slow has the whole time of the request.
      for (easy, transfer) in running where transfer.isLookUpOver {
        if let destination = transfer.destination, addresses[destination] != nil { lookUpFailed(easy, transfer) }
      }
      curl_multi_poll(multi, nil, 0, running.isEmpty ? 1000 : 250, nil)
    }
    lock.withLock { self.multi = nil }
    curl_multi_cleanup(multi)
  }

  /// OpenSSL writes without MSG_NOSIGNAL: a connection that the peer has closed would end a process that does not handle SIGPIPE.
  private func blockPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
