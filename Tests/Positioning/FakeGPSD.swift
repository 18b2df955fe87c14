import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A test double of gpsd on loopback: each connection gets the next script, and the last script repeats.
final class FakeGPSD: Sendable {
  /// The behaviour of one connection.
  struct Script: Sendable {
    /// Sent when the client connects, one segment each.
    var greeting: [String] = [#"{"class":"VERSION","release":"3.22"}"# + "\r\n"]
    /// The answers to the commands, in order; later commands get no answer.
    var answers: [[String]] = [[#"{"class":"DEVICES","devices":[{"path":"gps0"}]}"# + "\r\n", Self.echo]]
    var hangsUpAfterGreeting = false
    var hangsUpAfterAnswers = false

    static let echo = #"{"class":"WATCH","enable":true,"json":true}"# + "\r\n"
    static let badEcho = #"{"class":"WATCH","enable":true,"json":false}"# + "\r\n"

    /// - Parameter second: Of the receiver's time; without it, the report has no time.
    static func position(_ latitude: Double, second: Int? = nil) -> String {
      let time = second.map { #""time":"2020-01-01T00:00:0\#($0)Z","# } ?? ""
      return #"{"class":"TPV",\#(time)"device":"gps0","mode":3,"lat":\#(latitude),"lon":16.3,"eph":8.1}"# + "\r\n"
    }

    /// A gpsd that works, and sends these lines after its echo.
    static func working(_ lines: String...) -> Script {
      var script = Script()
      script.answers = [script.answers[0] + lines]
      return script
    }
  }

  private let channel: any Channel
  /// The segments that the clients have sent.
  let commands: AsyncStream<String>

  var port: Int { channel.localAddress?.port ?? 0 }

  private init(channel: any Channel, commands: AsyncStream<String>) {
    self.channel = channel
    self.commands = commands
  }

  static func start(_ scripts: [Script]) async throws -> FakeGPSD {
    let (commands, mailbox) = AsyncStream.makeStream(of: String.self)
    let connections = ConnectionCounter()
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        let script = scripts[min(connections.next(), scripts.count - 1)]
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ScriptPlayer(script: script, mailbox: mailbox))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    return FakeGPSD(channel: channel, commands: commands)
  }

  func stop() async {
    try? await channel.close()
  }

  deinit { channel.close(promise: nil) }

  private final class ScriptPlayer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let script: Script
    private let mailbox: AsyncStream<String>.Continuation
    private var answered = 0

    init(script: Script, mailbox: AsyncStream<String>.Continuation) {
      self.script = script
      self.mailbox = mailbox
    }

    func channelActive(context: ChannelHandlerContext) {
      say(script.greeting, context)
      if script.hangsUpAfterGreeting { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      mailbox.yield(String(buffer: unwrapInboundIn(data)))
      guard answered < script.answers.count else { return }
      say(script.answers[answered], context)
      answered += 1
      if script.hangsUpAfterAnswers { context.close(promise: nil) }
    }

    private func say(_ segments: [String], _ context: ChannelHandlerContext) {
      for segment in segments {
        context.channel.writeAndFlush(context.channel.allocator.buffer(string: segment), promise: nil)
      }
    }
  }
}

/// Counts connections across event loops.
private final class ConnectionCounter: Sendable {
  private let value = NIOLockedValueBox(0)

  func next() -> Int {
    value.withLockedValue { value in
      defer { value += 1 }
      return value
    }
  }
}
