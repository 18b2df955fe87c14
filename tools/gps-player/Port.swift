import Foundation
import NIOCore
import NIOPosix

/// The listening port, and its connections.
struct Port: Sendable {
  enum Role: Sendable {
    /// Sends like a receiver, from the moment of connecting.
    case feed
    /// Speaks gpsd's protocol.
    case gpsd(Recording.Greeting, versionDelay: Double)
  }

  let host: String
  let role: Role
  let player: Player

  private typealias Client = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Listens until it is cancelled, or ended by the player.
  /// - Parameter announce: Called with the port when it is open for the first time.
  func serve(_ port: Int, announce: (Int) -> Void) async throws {
    var port = port
    var announced = false
    repeat {
      let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        .bind(host: host, port: port) { channel in
          channel.eventLoop.makeCompletedFuture { try Client(wrappingChannelSynchronously: channel) }
        }
      await player.opened(server.channel)
      port = server.channel.localAddress?.port ?? port
      if !announced { announce(port) }
      announced = true
      try await accept(server)
    } while await player.waitForReturn()
  }

  private func accept(_ server: NIOAsyncChannel<Client, Never>) async throws {
    try await server.executeThenClose { clients in
      try await withThrowingDiscardingTaskGroup { group in
        for try await client in clients {
          group.addTask {
            // A broken connection does not affect the others.
            try? await attend(client)
          }
        }
      }
    }
  }

  private func attend(_ client: Client) async throws {
    let id = await player.connected(client.channel)
    do {
      try await client.executeThenClose { inbound, _ in
        switch role {
        case .feed:
          await player.listen(id, true)
          // gpsd can write to its receiver. Read that, so that the connection closes in order.
          for try await _ in inbound {}
        case .gpsd(let greeting, let delay):
          if delay > 0 { try await Task.sleep(for: .seconds(delay)) }
          try await say([greeting.version], to: client)
          try await converse(inbound, client: client, id: id, greeting: greeting)
        }
      }
    } catch {
      await player.disconnected(id)
      throw error
    }
    await player.disconnected(id)
  }

  private func say(_ lines: [String], to client: Client) async throws {
    let text = lines.map { $0 + "\r\n" }.joined()
    try await client.channel.writeAndFlush(ByteBuffer(string: text))
  }

  private func converse(
    _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>, client: Client, id: Int, greeting: Recording.Greeting
  ) async throws {
    var requests = GPSDRequests()
    for try await buffer in inbound {
      for request in requests.append(buffer.readableBytesView) {
        switch request {
        case .watch(let enable, let json):
          // Stop reports before the answer, so that none comes between DEVICES and WATCH.
          await player.listen(id, false)
          try await say([greeting.devices, GPSDRequests.watchEcho(enable: enable, json: json)], to: client)
          if enable && json { await player.listen(id, true) }
        case .version: try await say([greeting.version], to: client)
        case .devices: try await say([greeting.devices], to: client)
        case .poll:
          let time = UTCTime.now().iso
          try await say([#"{"class":"POLL","time":"\#(time)","active":0,"tpv":[],"gst":[],"sky":[]}"#], to: client)
        case .unknown(let text):
          try await say([#"{"class":"ERROR","message":"Unrecognized request '\#(text)'"}"#], to: client)
        }
      }
    }
  }
}
