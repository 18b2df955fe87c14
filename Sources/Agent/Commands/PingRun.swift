import Coverage
import Foundation
import OrderedJSON
import Pinging

/// `ping`: pings some targets and prints what becomes of each ping.
public struct PingRun: Sendable {
  public enum PingProtocol: Hashable, Sendable {
    case icmp
    case rtr(port: UInt16, token: [UInt8]?)
  }

  public enum Family: Hashable, Sendable { case ipv4, ipv6 }

  public enum Format: Hashable, Sendable { case text, json }

  private let targets: [String]
  private let pingProtocol: PingProtocol
  private let family: PingAddress.Family?
  private let interface: String?
  private let interval: Duration
  private let timeout: Duration
  private let count: UInt64
  private let format: Format

  /// - Parameter count: How many pings to each target; 0: until the run is stopped.
  public init(
    targets: [String], protocol pingProtocol: PingProtocol, family: Family?, interface: String?, interval: Duration,
    timeout: Duration, count: UInt64, format: Format
  ) {
    self.targets = targets
    self.pingProtocol = pingProtocol
    self.family = family.map { $0 == .ipv4 ? .ipv4 : .ipv6 }
    self.interface = interface
    self.interval = interval
    self.timeout = timeout
    self.count = count
    self.format = format
  }

  /// The 16 bytes of a ping token in Base64; `nil` for anything else.
  public static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }

  /// Pings until all pings are done or `stop` yields; those under way still get their verdict.
  /// - Throws: `NameError`, `PingerError`
  public func run(stop: AsyncStream<Void>, print: (String) -> Void) async throws -> CommandOutcome {
    let pinger = try Pinger()
    var names: [PingTarget.ID: String] = [:]
    var tallies: [PingTarget.ID: PingFigures] = [:]
    var addresses: [(name: String, address: PingAddress)] = []
    for name in targets {
      addresses.append((name, try await PingAddress.resolve(name, port: port, family: family)[0]))
    }
    var order: [PingTarget.ID] = []
    for (name, address) in addresses {
      let id = try pinger.start(
        PingTarget(
          address: address, echo: echo, interface: interface, interval: interval, timeout: timeout, count: count))
      names[id] = address.host == name ? name : "\(name) (\(address.host))"
      tallies[id] = PingFigures()
      order.append(id)
    }
    let stopping = Task { [order] in
      for await _ in stop {
        for id in order { pinger.stop(id) }
        return
      }
    }
    defer {
      stopping.cancel()
      pinger.shutdown()
    }
    var running = Set(order)
    for await event in pinger.events {
      guard let name = names[event.target] else { continue }
      if case .finished = event.kind {
        running.remove(event.target)
        if running.isEmpty { break }
        continue
      }
      tallies[event.target]?.count(event)
      print(format == .json ? PingLine(name: name, event: event).json : PingLine(name: name, event: event).text)
    }
    for id in order {
      guard let name = names[id], let figures = tallies[id] else { continue }
      print(format == .json ? figures.json(name) : figures.text(name))
    }
    return tallies.values.allSatisfy { $0.replies > 0 } ? .done : .failed
  }

  private var port: UInt16 {
    if case .rtr(let port, _) = pingProtocol { port } else { 0 }
  }

  private var echo: PingTarget.Echo {
    switch pingProtocol {
    case .icmp: .icmp
    case .rtr(_, let token?): .rtr(token: token)
    case .rtr(_, nil): .rtr(token: Self.unsignedToken)
    }
  }

  /// A token of this moment that no secret has signed.
  private static var unsignedToken: [UInt8] {
    let seconds = UInt32(clamping: WallTime.current.microseconds / 1_000_000)
    return withUnsafeBytes(of: seconds.bigEndian, Array.init) + [UInt8](repeating: 0, count: 12)
  }
}
