import CLibssl
import Foundation

/// A measurement server in this process, with a thread for each connection and a journal of all lines. It moves the test's clock
/// by the time that each command takes; batches and downloads of several connections pass in the same time.
final class LoopbackServer: @unchecked Sendable {
  /// The server's reaction to a line.
  enum Reaction: Sendable {
    case serve
    case say(String)
    /// Closes the connection.
    case close
    /// Closes it with a reset.
    case reset
    /// Answers nothing from now on, until the client closes. First the clock moves by these seconds.
    case silence(Double)
    /// Serves a main phase without its end: no last chunk of a download, no report of an upload. Then moves the clock by these
    /// seconds.
    case stall(Double)
    /// Sends the last chunk of a download these seconds after its time. A batch takes these seconds, while the other connections
    /// move the clock.
    case late(Double)
    /// Closes the connection in the middle of a main phase.
    case breakOff

    fileprivate var breaksOff: Bool { if case .breakOff = self { true } else { false } }
  }

  /// One line of the journal.
  struct Entry: Hashable, Sendable {
    let connection: Int
    let line: String
  }

  typealias React = @Sendable (Entry) -> Reaction

  let port: UInt16
  /// Seconds that a batch of a pre-test takes.
  let batchSeconds: Double
  private let listener: Int32
  private let clock: StepClock
  private let tls: OpaquePointer?
  private let speaksHTTP: Bool
  private let react: React
  private let lockstep: Lockstep
  private let lock = NSLock()
  private var entries: [Entry] = []
  private var connections = 0

  /// - Parameter react: Called for each line; the line of a fresh connection is `connect`.
  init(
    clock: StepClock, batchSeconds: Double = 0.25, tls: OpaquePointer? = nil, speaksHTTP: Bool = false,
    family: Int32 = AF_INET, react: @escaping React = { _ in .serve }
  ) throws {
    (self.clock, self.batchSeconds, self.tls) = (clock, batchSeconds, tls)
    (self.speaksHTTP, self.react, lockstep) = (speaksHTTP, react, Lockstep(clock))
    (listener, port) = try Self.listen(family)
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        guard let server = self else {
          close(descriptor)
          return
        }
        Thread.detachNewThread { server.serve(descriptor) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    if let tls { SSL_CTX_free(tls) }
  }

  private static func listen(_ family: Int32) throws -> (Int32, UInt16) {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in6()
    // Unread bytes in the socket would move the clock after the client's end.
    var room: Int32 = 16_384
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<Int32>.size))
    let offset = MemoryLayout<sa_family_t>.size
    var size = socklen_t(family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
    address.sin6_family = sa_family_t(family)
    return try withUnsafeMutableBytes(of: &address) { bytes in
      if family == AF_INET {
        // 127.0.0.1, behind the family and the port.
        bytes.storeBytes(of: UInt32(0x7F00_0001).bigEndian, toByteOffset: offset + 2, as: UInt32.self)
      } else {
        // ::1, behind the family, the port and the flow.
        bytes[offset + 2 + 4 + 15] = 1
      }
      let isListening = bytes.withMemoryRebound(to: sockaddr.self) { address in
        bind(descriptor, address.baseAddress, size) == 0 && Glibc.listen(descriptor, 64) == 0
          && getsockname(descriptor, address.baseAddress, &size) == 0
      }
      guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
      return (descriptor, UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
  }

  // MARK: The journal

  /// All lines in their order. The end of a connection is the line `end`.
  var journal: [Entry] { lock.withLock { entries } }

  /// The lines of one connection.
  func lines(_ connection: Int) -> [String] { journal.filter { $0.connection == connection }.map(\.line) }

  /// The connections that were accepted.
  var count: Int { lock.withLock { connections } }

  private func note(_ entry: Entry) { lock.withLock { entries.append(entry) } }

  // MARK: Service

  private func serve(_ descriptor: Int32) {
    let connection = lock.withLock {
      defer { connections += 1 }
      return connections
    }
    note(Entry(connection: connection, line: "connect"))
    defer {
      lockstep.leave(connection)
      note(Entry(connection: connection, line: "end"))
    }
    let fresh = react(Entry(connection: connection, line: "connect"))
    if case .close = fresh {
      close(descriptor)
      return
    }
    guard let stream = ServerStream(descriptor, tls: tls) else { return }
    if tls != nil { note(Entry(connection: connection, line: "SNI \(stream.serverName ?? "none")")) }
    guard answer(fresh, stream, connection, { _ in self.greet(stream, connection) }) else { return }
    while let line = stream.text() {
      let entry = Entry(connection: connection, line: line)
      note(entry)
      guard answer(react(entry), stream, connection, { self.serve(entry, stream, $0) }) else { return }
    }
  }

  /// Whether the connection goes on.
  private func answer(
    _ reaction: Reaction, _ stream: ServerStream, _ connection: Int, _ service: (Reaction) -> Bool
  ) -> Bool {
    switch reaction {
    case .serve, .stall, .late, .breakOff: return service(reaction)
    case .say(let text):
      stream.send(text)
      return true
    case .close: return false
    case .reset:
      stream.reset()
      return false
    case .silence(let seconds): return stall(stream, connection, seconds)
    }
  }

  private func greet(_ stream: ServerStream, _ connection: Int) -> Bool {
    if speaksHTTP {
      guard let head = stream.text(until: "\r\n\r\n") else { return false }
      note(Entry(connection: connection, line: String(head.prefix { $0 != "\r\n" })))
      stream.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: RMBT\r\n\r\n\0")
    }
    stream.send("RMBTv1.3.5\nACCEPT TOKEN QUIT\n")
    return true
  }

  static let ready = "ACCEPT GETCHUNKS GETTIME PUT PUTNORESULT PING QUIT\n"

  private func serve(_ entry: Entry, _ stream: ServerStream, _ reaction: Reaction) -> Bool {
    let words = entry.line.split(separator: " ").map(String.init)
    let numbers = words.dropFirst().compactMap { Int($0) }
    switch (words.first, numbers.count) {
    case ("TOKEN", _):
      lockstep.join(entry.connection)
      stream.send("OK\nCHUNKSIZE 4096 4096 4194304\n" + Self.ready)
    case ("PING", 0):
      clock.advance(seconds: 0.1)
      stream.send("PONG\n")
      guard stream.text() == "OK" else { return false }
      stream.send("TIME 30000000\n" + Self.ready)
    case ("GETCHUNKS", 2):
      let begin = clock.now
      chunks(stream, size: numbers[1], last: numbers[0])
      passBatch(entry.connection, since: begin, reaction)
      return finish(stream, since: begin)
    case ("GETTIME", 2): return download(entry.connection, stream, seconds: numbers[0], size: numbers[1], reaction)
    case ("PUTNORESULT", 1):
      let begin = clock.now
      stream.send("OK\n")
      guard receive(stream, size: numbers[0], report: { _, _ in true }) else { return false }
      passBatch(entry.connection, since: begin, reaction)
      stream.send("TIME \(clock.now - begin)\n" + Self.ready)
    case ("PUT", 1): return upload(entry.connection, stream, size: numbers[0], reaction)
    case ("QUIT", 0):
      stream.send("BYE\n")
      return false
    default: stream.send("ERR\n" + Self.ready)
    }
    return true
  }

  private func passBatch(_ connection: Int, since begin: Int64, _ reaction: Reaction) {
    guard case .late(let seconds) = reaction else { return lockstep.step(connection, seconds: batchSeconds) }
    lockstep.leave(connection)
    while clock.now < begin + Int64(seconds * 1e9) { usleep(1000) }
    lockstep.join(connection)
  }

  /// Waits for OK and sends the time.
  private func finish(_ stream: ServerStream, since begin: Int64) -> Bool {
    guard stream.text() == "OK" else { return false }
    stream.send("TIME \(clock.now - begin)\n" + Self.ready)
    return true
  }

  /// Sends `last` chunks, the last of which has the flag of the end; or one chunk without that flag when `last` is 0.
  private func chunks(_ stream: ServerStream, size: Int, last: Int) {
    for number in 1...max(last, 1) {
      stream.send([UInt8](repeating: 0xFF, count: size - 1) + [number == last ? 0xFF : 0])
    }
  }

  private func download(
    _ connection: Int, _ stream: ServerStream, seconds: Int, size: Int, _ reaction: Reaction
  ) -> Bool {
    let begin = clock.now
    for step in 1...10 {
      lockstep.step(connection, seconds: Double(seconds) / 10)
      if step == 6, reaction.breaksOff {
        // The other connections move the clock: not before the client has read these bytes.
        stream.end()
        return false
      }
      if step < 10 { chunks(stream, size: size, last: 0) }
    }
    if case .stall(let seconds) = reaction {
      chunks(stream, size: size, last: 0)
      return stall(stream, connection, seconds)
    }
    if case .late(let seconds) = reaction { clock.advance(seconds: seconds) }
    chunks(stream, size: size, last: 1)
    return finish(stream, since: begin)
  }

  private func stall(_ stream: ServerStream, _ connection: Int, _ seconds: Double) -> Bool {
    lockstep.leave(connection)
    clock.advance(seconds: seconds)
    while !stream.bytes().isEmpty {}
    return false
  }

  /// - Parameter report: Gets the number of all bytes so far, and of the new ones; whether to go on.
  private func receive(_ stream: ServerStream, size: Int, report: (Int, Int) -> Bool) -> Bool {
    var (total, hasEnded) = (0, false)
    while !hasEnded {
      let bytes = stream.bytes()
      guard !bytes.isEmpty else { return false }
      for flag in stride(from: size - total % size - 1, to: bytes.count, by: size) where bytes[flag] != 0 {
        hasEnded = true
      }
      total += bytes.count
      guard report(total, bytes.count) else { return false }
    }
    return true
  }

  private func upload(_ connection: Int, _ stream: ServerStream, size: Int, _ reaction: Reaction) -> Bool {
    stream.send("OK\n")
    let begin = clock.now
    var stalls: Double?
    if case .stall(let seconds) = reaction { stalls = seconds }
    let isWhole = receive(stream, size: size) { total, new in
      // 16 MB/s for all connections together: the backlog of all sockets at the end takes less than 100 ms, after which a client may give up.
      clock.advance(seconds: Double(new) / 16e6)
      if stalls == nil { stream.send("TIME \(clock.now - begin) BYTES \(total)\n") }
      return !reaction.breaksOff || clock.now - begin < 200_000_000
    }
    guard isWhole else { return false }
    if let stalls { return stall(stream, connection, stalls) }
    stream.send("TIME \(clock.now - begin)\n" + Self.ready)
    return true
  }
}
