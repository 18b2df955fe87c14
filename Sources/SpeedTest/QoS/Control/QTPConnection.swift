import Foundation
import Pinging

/// The control connection to a QoS server, shared by all tests with that server. A thread reads the replies.
///
/// The lock guards the transport, as OpenSSL's connections are used by one thread at a time; no call under it blocks.
final class QTPConnection: @unchecked Sendable {
  private let transport: any Transport
  private let clock: TestClock
  private let lock = NSLock()
  private var lines = LineBuffer(longest: 65_536)
  private var replies = QTPReplies()
  /// The reason why no command can be sent any more; `nil`: open. Set once.
  private var failure: SpeedTestError?
  /// Open with the next replies, or with `failure`.
  private var hasNews = Latch()
  /// The two ends. UDP packets must come from the same address (docs/protocol.md, edge 44), and tests use other ports of the same server.
  let local: Addresses.Address
  let peer: Addresses.Address

  /// Opens the connection on a connected transport, and sends the token. The object closes the transport.
  /// - Parameter waiting: The limits for opening; it takes 10 s at most.
  /// - Throws: ``SpeedTestError/tokenRefused`` also when the server closes in place of an answer to the token.
  init(_ transport: any Transport, token: MeasurementToken, waiting: Waiting) throws(SpeedTestError) {
    let descriptor = transport.descriptor
    guard let local = Addresses.Address.filled(by: { getsockname(descriptor, $0, $1) }),
      let peer = Addresses.Address.filled(by: { getpeername(descriptor, $0, $1) })
    else { throw .closed }
    (self.transport, self.local, self.peer, clock) = (transport, local, peer, waiting.clock)
    try open(token, waiting)
    Thread.detachNewThread { [self] in readReplies() }
  }

  /// Runs the opening on the calling thread; the thread of replies starts after it.
  private func open(_ token: MeasurementToken, _ waiting: Waiting) throws(SpeedTestError) {
    var opening = QTPOpening()
    let limit = clock.now() + 10_000_000_000
    do throws(SpeedTestError) {
      while opening.stage != .ready {
        while opening.stage != .ready, let line = try lines.next() {
          if try opening.read(QTPLine(line).text) { try write("TOKEN \(token.text)\n") }
        }
        guard opening.stage != .ready else { return }
        if try readSome() == 0, !transport.hasBuffered,
          try !waiting.wait(on: transport.descriptor, for: Int16(POLLIN), until: limit)
        {
          throw .timeout("the QoS server is silent")
        }
      }
    } catch .closed where opening.stage == .tokenSent {
      throw .tokenRefused
    }
  }

  var isOpen: Bool { lock.withLock { failure == nil } }

  /// Sends a command, and waits for its reply. Several threads can wait at once.
  /// - Throws: ``SpeedTestError/timeout(_:)`` at the limit, ``SpeedTestError/aborted``, or the reason why the connection ended.
  func request(_ command: QTPCommand, until limit: Int64) throws(SpeedTestError) -> String {
    let id = try send(command)
    while true {
      let (reply, failure, news) = lock.withLock { (replies.removeReply(to: id), self.failure, hasNews) }
      if let reply { return reply }
      if let failure { throw failure }
      if clock.isAborted() || clock.now() >= limit {
        lock.withLock { replies.abandon(id) }
        throw clock.isAborted() ? .aborted : .timeout(command.text)
      }
      // In slices, so that an abort is seen.
      news.wait(nanoseconds: 50_000_000)
    }
  }

  /// Sends a command that has no reply of its own.
  func order(_ command: QTPCommand) throws(SpeedTestError) { _ = try send(command, hasReply: false) }

  /// Sends a command with the number that its reply will have. Called without the lock.
  private func send(_ command: QTPCommand, hasReply: Bool = true) throws(SpeedTestError) -> Int64 {
    let result: Result<Int64, SpeedTestError> = lock.withLock {
      if let failure { return .failure(failure) }
      let id = replies.issue(hasReply: hasReply)
      do throws(SpeedTestError) {
        try write("\(command.text) +ID\(id)\n")
        return .success(id)
      } catch {
        replies.abandon(id)
        fail(error)
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Writes a line. Lines are short: a transport that does not take one at once is as good as closed.
  private func write(_ line: String) throws(SpeedTestError) {
    let bytes = Array(line.utf8)
    guard try transport.write(bytes) == bytes.count else { throw .timeout("the QoS server takes no bytes") }
  }

  /// Ends the connection for all callers; the first reason counts. After a line that was written in part, no other one may
  /// follow. The lock must be held.
  private func fail(_ error: SpeedTestError) {
    failure = failure ?? error
    wake()
  }

  /// Wakes all who wait for a reply. The lock must be held.
  private func wake() {
    hasNews.open()
    hasNews = Latch()
  }

  /// Moves bytes that are there to `lines`. 0: nothing now.
  private func readSome() throws(SpeedTestError) -> Int {
    let bytes = try transport.readSome()
    lines.append(bytes)
    return bytes.count
  }

  /// The loop of the reading thread. It ends with the connection.
  private func readReplies() {
    while isOpen {
      var entry = pollfd(fd: transport.descriptor, events: Int16(POLLIN), revents: 0)
      let isBuffered = lock.withLock { transport.hasBuffered }
      if !isBuffered, poll(&entry, 1, 100) == 0 { continue }
      lock.withLock {
        do throws(SpeedTestError) {
          // A flood is cut into lines before more of it is read.
          var isMore = true
          for _ in 0..<16 where isMore { isMore = try readSome() > 0 }
          try dispatch()
        } catch {
          // Replies that arrived before the end are still valid.
          try? dispatch()
          fail(error)
        }
        wake()
      }
    }
    // Only this thread closes: the kernel can reuse the descriptor's number at once.
    lock.withLock { transport.close() }
  }

  private func dispatch() throws(SpeedTestError) {
    while let line = try lines.next() { replies.read(QTPLine(line)) }
  }

  /// Says QUIT, and fails all waiting requests. The reading thread closes the transport within 0.1 s.
  func close() {
    lock.withLock {
      guard failure == nil else { return }
      try? write("\(QTPCommand.quit.text)\n")
      fail(.closed)
    }
  }
}

/// The opening of a control connection, line by line, as a value: greeting, ACCEPT, token, OK, ACCEPT. After it, replies have no
/// ACCEPT between them (docs/protocol.md, 8).
struct QTPOpening: Sendable {
  /// The line that must come next; at `ready` none.
  enum Stage: Hashable, Sendable {
    case greeting, tokenWanted, tokenSent, listing, ready
  }

  private(set) var stage = Stage.greeting

  /// - Returns: Whether the token is to be sent now.
  /// - Throws: ``SpeedTestError/tokenRefused``, or ``SpeedTestError/protocolError(_:)`` for any other line.
  mutating func read(_ line: String) throws(SpeedTestError) -> Bool {
    switch stage {
    case .greeting where line.hasPrefix("QoSSP"): stage = .tokenWanted
    case .tokenWanted where line.hasPrefix("ACCEPT"):
      stage = .tokenSent
      return true
    case .tokenSent where line == "OK": stage = .listing
    case .tokenSent where line.hasPrefix("ERR"): throw .tokenRefused
    case .listing where line.hasPrefix("ACCEPT"): stage = .ready
    default: throw .protocolError("a QoS server sent \"\(String(line.prefix(80)))\" (\(stage))")
    }
    return false
  }
}

/// Assigns the lines of a QoS server to commands, by their numbers. Replies come in any order (docs/protocol.md, edge 41).
struct QTPReplies: Sendable {
  /// The number of the newest command; numbers begin at 1.
  private var last: Int64 = 0
  /// Commands that wait for a reply.
  private var open: Set<Int64> = []
  /// Replies that no caller has fetched yet.
  private var answers: [Int64: String] = [:]

  /// The number of a new command.
  /// - Parameter hasReply: `false` for a command that has no reply of its own: `TCPTEST IN`, `UDPTEST IN`.
  mutating func issue(hasReply: Bool = true) -> Int64 {
    last += 1
    if hasReply { open.insert(last) }
    return last
  }

  /// Applies a line. A line without a number answers the waiting command if there is exactly one.
  mutating func read(_ line: QTPLine) {
    guard let id = line.id ?? (open.count == 1 ? open.first : nil), open.remove(id) != nil else { return }
    answers[id] = line.text
  }

  /// The reply to a command, once; `nil` until it is there.
  mutating func removeReply(to id: Int64) -> String? { answers.removeValue(forKey: id) }

  /// The caller no longer waits for this reply.
  mutating func abandon(_ id: Int64) {
    open.remove(id)
    answers[id] = nil
  }
}

/// A line of a QoS server: its text without suffix, and the number of the command that it answers (docs/protocol.md, edge 41).
struct QTPLine: Hashable, Sendable {
  let text: String
  /// `nil` for a line without the suffix ` +ID<n>`.
  let id: Int64?

  private static let mark = " +ID"

  init(_ line: String) {
    let characters = Array(line.utf8)
    let mark = Array(Self.mark.utf8)
    var digits = characters.count
    while digits > 0, (0x30...0x39).contains(characters[digits - 1]) { digits -= 1 }
    let start = digits - mark.count
    guard start >= 0, Array(characters[start..<digits]) == mark,
      let id = Int64(String(decoding: characters[digits...], as: UTF8.self))
    else {
      (text, id) = (line, nil)
      return
    }
    (text, self.id) = (String(decoding: characters[..<start], as: UTF8.self), id)
  }
}
