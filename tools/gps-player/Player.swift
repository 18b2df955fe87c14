import NIOCore

/// Plays a recording to whoever listens, once, at its pace. The recording goes on whether anybody listens or not, as a
/// receiver does; it begins with the first listener.
actor Player {
  private let steps: [Step]
  private let startAt: Double
  private let speed: Double
  private let fragments: Bool
  private var connections: [Int: any Channel] = [:]
  private var listeners: Set<Int> = []
  private var nextID = 0
  private var server: (any Channel)?
  private var isAway = false
  private var epochs = 0
  private var bytes = 0
  private(set) var hasEnded = false

  private let begun = AsyncStream<Void>.makeStream()
  private let back = AsyncStream<Void>.makeStream()

  /// - Parameter fragments: send in shreds of a few bytes.
  init(steps: [Step], startAt: Double, speed: Double, fragments: Bool) {
    self.steps = steps
    self.startAt = startAt
    self.speed = speed
    self.fragments = fragments
  }

  /// What was played until now.
  var account: String { "played \(epochs) epochs, \(bytes) bytes" }

  // MARK: Connections

  func opened(_ server: any Channel) { self.server = server }

  func connected(_ channel: any Channel) -> Int {
    nextID += 1
    connections[nextID] = channel
    return nextID
  }

  func disconnected(_ id: Int) {
    connections[id] = nil
    listeners.remove(id)
  }

  /// Begins or ends sending to a connection.
  func listen(_ id: Int, _ on: Bool) {
    guard connections[id] != nil else { return }
    if on { listeners.insert(id) } else { listeners.remove(id) }
    if on { begun.continuation.yield() }
  }

  /// Waits until the port is to be opened again. `false`: it was not closed on purpose.
  func waitForReturn() async -> Bool {
    guard isAway else { return false }
    for await _ in back.stream { return true }
    return false
  }

  // MARK: Playing

  func play() async throws {
    for await _ in begun.stream { break }
    let clock = ContinuousClock()
    let start = clock.now
    for step in steps {
      try await clock.sleep(until: start + .seconds((step.at - startAt) / speed))
      try await take(step)
    }
    hasEnded = true
  }

  private func take(_ step: Step) async throws {
    switch step.action {
    case .send(let piece):
      try await send(piece.bytes)
      epochs += piece.epochs
      bytes += piece.bytes.count
    case .closeConnections: await closeConnections(flushing: true)
    case .leave:
      isAway = true
      try? await server?.close()
      await closeConnections(flushing: true)
    case .comeBack:
      isAway = false
      back.continuation.yield()
    }
  }

  private func send(_ bytes: [UInt8]) async throws {
    guard fragments else { return write(bytes[...]) }
    var rest = bytes[...]
    // Sizes that never fall into step with lines. Only short pieces are worth the waits that keep shreds apart.
    for size in [1, 1, 2, 3, 5, 8].cycled(times: bytes.count) where !rest.isEmpty {
      write(rest.prefix(size))
      rest = rest.dropFirst(size)
      if bytes.count <= 4096 { try await Task.sleep(for: .microseconds(100)) }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>) {
    // Nobody waits for a slow reader: what it does not take piles up here, at most the size of the recording.
    for id in listeners {
      connections[id]?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }
  }

  private func closeConnections(flushing: Bool) async {
    for channel in connections.values {
      // Behind everything that is still to be written, as closing would drop it.
      if flushing { try? await channel.writeAndFlush(ByteBuffer()) }
      try? await channel.close()
    }
  }

  /// Closes everything.
  /// - Parameter flushing: once all is sent, which takes as long as the slowest reader likes.
  func end(flushing: Bool) async {
    await closeConnections(flushing: flushing)
    try? await server?.close()
  }
}

extension Array {
  /// The elements again and again, no more than `times` in all.
  fileprivate func cycled(times: Int) -> some Sequence<Element> {
    (0..<times).lazy.map { self[$0 % count] }
  }
}
