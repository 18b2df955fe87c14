import NIOCore

/// Plays a recording once, at its pace, to all listeners. Like a receiver, it continues without listeners after the first.
actor Player {
  private let steps: [Step]
  private let startAt: Double
  private let speed: Double
  private let fragments: Bool
  /// When the recording began; `nil`: with the first listener.
  private let began: ContinuousClock.Instant?
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

  /// - Parameters:
  ///   - fragments: Whether to send in fragments of a few bytes.
  ///   - began: When the recording began: steps from before the first listener are left out. `nil`: with the first listener.
  init(steps: [Step], startAt: Double, speed: Double, fragments: Bool, began: ContinuousClock.Instant? = nil) {
    self.steps = steps
    self.startAt = startAt
    self.speed = speed
    self.fragments = fragments
    self.began = began
  }

  /// The amount played so far, for the operator.
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

  /// Starts or ends sending to a connection.
  func listen(_ id: Int, _ on: Bool) {
    guard connections[id] != nil else { return }
    if on { listeners.insert(id) } else { listeners.remove(id) }
    if on { begun.continuation.yield() }
  }

  /// Waits until the port must be opened again; `false` if no step closed it.
  func waitForReturn() async -> Bool {
    guard isAway else { return false }
    for await _ in back.stream { return true }
    return false
  }

  // MARK: Playing

  func play() async throws {
    for await _ in begun.stream { break }
    let clock = ContinuousClock()
    let first = clock.now
    let start = began ?? first
    for step in steps {
      let moment = start + .seconds((step.at - startAt) / speed)
      guard began == nil || moment >= first else { continue }
      try await clock.sleep(until: moment)
      try await perform(step)
    }
    hasEnded = true
  }

  private func perform(_ step: Step) async throws {
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
    // Sizes that never coincide with lines. Wait between fragments of short pieces only.
    for size in [1, 1, 2, 3, 5, 8].cycled(times: bytes.count) where !rest.isEmpty {
      write(rest.prefix(size))
      rest = rest.dropFirst(size)
      if bytes.count <= 4096 { try await Task.sleep(for: .microseconds(100)) }
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>) {
    // Do not wait for slow readers: their bytes are buffered, at most the size of the recording.
    for id in listeners {
      connections[id]?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }
  }

  private func closeConnections(flushing: Bool) async {
    for channel in connections.values {
      // Wait until all bytes are written: closing would drop them.
      if flushing { try? await channel.writeAndFlush(ByteBuffer()) }
      try? await channel.close()
    }
  }

  /// Closes all connections and the port.
  /// - Parameter flushing: Whether to send all buffered bytes first, which takes as long as the slowest reader needs.
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
