import ArgumentParser
import Glibc
import NIOCore
import NIOPosix

/// A speed test's main phases on an event loop, to compare with the threads of the speed test (docs/decisions/0014-threads-for-speed-tests.md).
@main
struct BenchEventLoop: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-event-loop",
    abstract: "Downloads from and uploads to a native measurement server with SwiftNIO (see tools/bench-speedtest).")

  @Option(help: "The server's port on 127.0.0.1.") var port: Int
  @Option(help: "The token, as the server takes it.") var token = "bench"
  @Option(help: "The length of each phase.") var seconds = 7
  @Option(help: "Connections.") var connections = 3
  @Option(help: "Bytes of a chunk.") var chunk = 1_048_576

  func validate() throws {
    guard (1...65_535).contains(port), (1...30).contains(seconds), (1...9).contains(connections),
      (4096...4_194_304).contains(chunk)
    else { throw ValidationError("--port, --seconds (1 to 30), --connections (1 to 9) or --chunk is out of range") }
  }

  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: connections)
    var members: [(channel: any Channel, connection: NIOLoopBound<MeasuredConnection>)] = []
    for _ in 0..<connections { members.append(try await connect(group)) }
    let before = Self.cpu()
    let down = try await phase(members) { $0.download($1, $2) }
    let between = Self.cpu()
    let up = try await phase(members) { $0.upload($1, $2) }
    let after = Self.cpu()
    for (name, bytes, cpu) in [("down", down, between - before), ("up", up, after - between)] {
      let rate = Double(bytes) * 8 / Double(seconds) / 1e9
      print("\(name) \(decimal(rate)) Gbit/s, \(decimal(cpu)) CPU s: \(decimal(cpu / Double(bytes) * 1e9)) s/GB")
    }
    for member in members { try await member.channel.close() }
    try await group.shutdownGracefully()
  }

  private func connect(
    _ group: MultiThreadedEventLoopGroup
  ) async throws -> (channel: any Channel, connection: NIOLoopBound<MeasuredConnection>) {
    let loop = group.next()
    let ready = loop.makePromise(of: Int.self)
    var random = ByteBuffer(bytes: (0..<chunk).map { _ in UInt8.random(in: 0...0xFF) })
    random.setInteger(UInt8(0), at: chunk - 1)
    let (token, seconds, bytes) = (token, seconds, random)
    let bound = try await loop.submit {
      NIOLoopBound(MeasuredConnection(token: token, seconds: seconds, chunk: bytes, ready: ready), eventLoop: loop)
    }.get()
    let channel = try await ClientBootstrap(group: loop)
      .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 262_144))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value)
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    _ = try await ready.futureResult.get()
    return (channel, bound)
  }

  /// All connections at once; the sum of their bytes.
  private func phase(
    _ members: [(channel: any Channel, connection: NIOLoopBound<MeasuredConnection>)],
    _ begin: @escaping @Sendable (MeasuredConnection, any Channel, EventLoopPromise<Int>) -> Void
  ) async throws -> Int {
    var futures: [EventLoopFuture<Int>] = []
    for (channel, connection) in members {
      let promise = channel.eventLoop.makePromise(of: Int.self)
      channel.eventLoop.execute { begin(connection.value, channel, promise) }
      futures.append(promise.futureResult)
    }
    var bytes = 0
    for future in futures { bytes += try await future.get() }
    return bytes
  }

  /// CPU seconds of this process.
  private static func cpu() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }

  private func decimal(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
  }
}
