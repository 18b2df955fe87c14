import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// The connections to one of the service's HTTP servers: limits them, and accepts none once the service ends.
final class ServerConnections: AvailableConnectionsDelegate {
  /// How a server tells its peers apart.
  enum Peers {
    /// By IP address; of IPv6, by the network of 64 bits that a host may fill.
    case addresses
    /// By user, on a unix socket.
    case users
  }

  private struct State {
    var places: ConnectionPlaces<[UInt8]>
    var channels: [ObjectIdentifier: any Channel] = [:]
    var isClosing = false
  }

  /// The time for a request's head and body, and between two requests of a connection.
  static let headLimit = Duration.seconds(10)

  private let peers: Peers
  private let state: Mutex<State>

  /// - Parameters:
  ///   - most: Of all peers together; fewer where the process may open few files, most of which are for the measurement.
  ///   - mostOfPeer: Of one peer, without its trusted ones.
  init(_ peers: Peers, most: Int, mostOfPeer: Int) {
    self.peers = peers
    let share = min(most, max(4, Self.fileLimit / 8))
    state = Mutex(State(places: ConnectionPlaces(most: share, mostOfPeer: min(mostOfPeer, share))))
  }

  private static var fileLimit: Int {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? Int(clamping: limit.rlim_cur) : 1024
  }

  func server(headLimit: Duration = ServerConnections.headLimit) -> HTTPServerBuilder {
    .http1(
      configuration: .init(
        additionalChannelHandlers: [PlaceHandler(self)],
        idleTimeout: .nanoseconds(headLimit.inNanoseconds)))
  }

  /// The peer of `channel` has shown that it belongs here.
  func trust(_ channel: any Channel) { state.withLock { $0.places.trust(ObjectIdentifier(channel)) } }

  /// Accepts no further connection.
  func close() { state.withLock { $0.isClosing = true } }

  /// Runs a server until the task is cancelled. After `onStop` it accepts no client any more, and clients that have just connected are served;
  /// only then it ends. A connection that it accepts while it ends is dropped with its writer unfinished, and NIO ends the process for that.
  static func run(_ server: some ApplicationProtocol, onStop: @escaping @Sendable () -> Void) async throws {
    let serving = Task { try await server.run() }
    try await withTaskCancellationHandler {
      try await serving.value
    } onCancel: {
      onStop()
      Task {
        // For connections that the kernel has made, and the server has not accepted yet.
        try? await Task.sleep(for: .milliseconds(100))
        serving.cancel()
      }
    }
  }

  func connectionOpened() {}
  func connectionClosed() {}
  func isAcceptingNewConnections() -> Bool { state.withLock { !$0.isClosing } }

  fileprivate func open(_ channel: any Channel) {
    switch peers {
    case .addresses: open(channel, from: Self.network(of: channel.remoteAddress))
    case .users:
      let user = channel.peerUser
      // Without a user it would have no limit.
      user.whenFailure { _ in channel.close(promise: nil) }
      user.whenSuccess { [self] user in
        open(channel, from: withUnsafeBytes(of: user) { Array($0) })
        // They give the commands.
        if user == 0 || user == geteuid() { trust(channel) }
      }
    }
  }

  private func open(_ channel: any Channel, from peer: [UInt8]) {
    let victim = state.withLock { state in
      state.channels[ObjectIdentifier(channel)] = channel
      return state.places.open(ObjectIdentifier(channel), from: peer).flatMap { state.channels.removeValue(forKey: $0) }
    }
    victim?.close(promise: nil)
  }

  fileprivate func end(_ channel: any Channel) {
    state.withLock { state in
      state.places.close(ObjectIdentifier(channel))
      state.channels[ObjectIdentifier(channel)] = nil
    }
  }

  private static func network(of address: SocketAddress?) -> [UInt8] {
    switch address {
    case .v4(let address): withUnsafeBytes(of: address.address.sin_addr) { Array($0) }
    case .v6(let address): withUnsafeBytes(of: address.address.sin6_addr) { network(ofIPv6: Array($0)) }
    default: []
    }
  }

  /// An IPv4 peer of a socket for both versions (::ffff:192.0.2.1, RFC 4291, 2.5.5.2) and ::1 are hosts of their own.
  static func network(ofIPv6 address: [UInt8]) -> [UInt8] {
    let isMapped =
      address.prefix(10).allSatisfy { $0 == 0 } && address.dropFirst(10).prefix(2).elementsEqual([0xFF, 0xFF])
    if isMapped { return Array(address.suffix(4)) }
    return address.dropLast().allSatisfy { $0 == 0 } ? address : Array(address.prefix(8))
  }
}

/// Gives the handlers of requests the channel, to close it or to read the user at its other end.
struct ChannelContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }
}

/// Tells ``ServerConnections`` when a connection begins and ends.
private final class PlaceHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  private let connections: ServerConnections

  init(_ connections: ServerConnections) { self.connections = connections }

  func channelActive(context: ChannelHandlerContext) {
    connections.open(context.channel)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.end(context.channel)
    context.fireChannelInactive()
  }
}

extension Channel {
  /// The user of the process at the other end of a unix socket, from the kernel (unix(7), `SO_PEERCRED`).
  var peerUser: EventLoopFuture<UInt32> {
    guard let options = self as? any SocketOptionProvider else { return eventLoop.makeSucceededFuture(.max) }
    let credentials: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
      level: .socket, name: .init(rawValue: SO_PEERCRED))
    return credentials.map(\.user)
  }
}

private struct PeerCredentials {
  var process: Int32 = 0
  var user: UInt32 = .max
  var group: UInt32 = .max
}

/// Which connections to a server stay when a peer, or all peers together, have too many. A pure value.
///
/// A new connection gets a place as long as another one has not shown that it belongs here: strangers who only hold connections open
/// lock nobody out.
struct ConnectionPlaces<Peer: Hashable & Sendable>: Sendable {
  private struct Place {
    let id: ObjectIdentifier
    let peer: Peer
    var isTrusted = false
  }

  /// Of all peers together.
  let most: Int
  /// Of one peer, without its trusted ones.
  let mostOfPeer: Int
  /// The oldest one first.
  private var places: [Place] = []

  init(most: Int, mostOfPeer: Int) { (self.most, self.mostOfPeer) = (most, mostOfPeer) }

  var count: Int { places.count }

  /// Gives a new connection a place.
  /// - Returns: The connection to close for it: the oldest one of this peer, or of the peer that has most. The new one itself when all
  ///   others are trusted; `nil` when there is room.
  mutating func open(_ id: ObjectIdentifier, from peer: Peer) -> ObjectIdentifier? {
    places.append(Place(id: id, peer: peer))
    let counts = places.reduce(into: [Peer: Int]()) { $0[$1.peer, default: 0] += $1.isTrusted ? 0 : 1 }
    let highest = counts.values.max()
    let victim: Place? =
      if counts[peer, default: 0] > mostOfPeer {
        places.first { !$0.isTrusted && $0.peer == peer }
      } else if places.count > most {
        places.first { !$0.isTrusted && counts[$0.peer] == highest }
      } else {
        nil
      }
    victim.map { close($0.id) }
    return victim?.id
  }

  /// The connection has shown that it belongs here: it stays until it ends.
  mutating func trust(_ id: ObjectIdentifier) {
    for index in places.indices where places[index].id == id { places[index].isTrusted = true }
  }

  mutating func close(_ id: ObjectIdentifier) { places.removeAll { $0.id == id } }
}
