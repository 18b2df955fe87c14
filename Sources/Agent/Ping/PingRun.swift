import Coverage
import Foundation
import Pinging

/// `ping`: pings some targets and prints what becomes of each ping.
public struct PingRun: Sendable {
  public enum PingProtocol: Hashable, Sendable {
    case icmp
    case rtr(port: UInt16, token: [UInt8]?)
    case oneWay(port: UInt16)
  }

  public enum Family: Hashable, Sendable { case ipv4, ipv6 }

  public enum Format: Hashable, Sendable {
    case text, json
    /// Nothing but summaries.
    case quiet
  }

  /// How to ping, the same for all targets.
  public struct Options: Hashable, Sendable {
    public var pingProtocol = PingProtocol.icmp
    public var family: Family?
    public var interface: String?
    /// A numeric address of this host that pings carry.
    public var source: String?
    public var interval: Duration = .seconds(1)
    public var timeout: Duration = .seconds(1)
    /// 0: until the run is stopped.
    public var count: UInt64 = 0
    /// Ends the run; pings under way still get their verdict.
    public var deadline: Duration?
    public var floodWindow: UInt32?
    public var size: UInt16?
    public var isFragmentationForbidden = false
    public var hopLimit: UInt8?
    public var trafficClass: UInt8 = 0
    public var mark: UInt32 = 0
    public var format = Format.text

    public init() {}
  }

  private let targets: [String]
  private let options: Options

  public init(targets: [String], options: Options) {
    self.targets = targets
    self.options = options
  }

  /// The 16 bytes of a ping token in Base64; `nil` for anything else.
  public static func token(_ base64: String) -> [UInt8]? {
    Data(base64Encoded: base64).flatMap { $0.count == 16 ? [UInt8]($0) : nil }
  }

  /// Pings until all pings are done, the deadline is reached or `stop` yields; those under way still get their verdict.
  /// - Parameter interim: Yields when a summary is wanted while the run goes on.
  /// - Throws: `NameError`, `PingerError`
  public func run(
    stop: AsyncStream<Void>, interim: AsyncStream<Void>, print: (String) -> Void
  ) async throws -> CommandOutcome {
    let pinger = try Pinger()
    defer { pinger.shutdown() }
    let named = try await start(pinger)
    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    let sources = sources(pinger, stop: stop, interim: interim, into: continuation)
    defer { sources.forEach { $0.cancel() } }

    var statistics = named.mapValues { _ in PingStatistics() }
    var running = Set(named.keys)
    for await input in inputs {
      switch input {
      case .stop: named.keys.forEach(pinger.stop)
      case .interim: summaries(named, statistics, isInterim: true).forEach(print)
      case .ping(let event):
        if case .finished = event.kind { running.remove(event.target) } else { report(event, named, print) }
        statistics[event.target]?.count(event)
      }
      if running.isEmpty { break }
    }
    summaries(named, statistics, isInterim: false).forEach(print)
    return statistics.values.allSatisfy { $0.replies > 0 } ? .done : .failed
  }

  private enum Input: Sendable {
    case ping(PingEvent)
    case stop
    case interim
  }

  /// Resolves and starts all targets; what needs a privilege is open afterwards, and the privilege is dropped.
  private func start(_ pinger: Pinger) async throws -> [PingTarget.ID: String] {
    var resolved: [(name: String, target: PingTarget)] = []
    for name in targets {
      let address = try await PingAddress.resolve(name, port: port, family: family)[0]
      var target = PingTarget(
        address: address, echo: echo, interface: options.interface, interval: options.interval,
        timeout: options.timeout, count: options.count)
      target.floodWindow = options.floodWindow
      target.size = options.size
      target.isFragmentationForbidden = options.isFragmentationForbidden
      target.hopLimit = options.hopLimit
      target.trafficClass = options.trafficClass
      target.mark = options.mark
      if let source = options.source {
        target.source = try await PingAddress.resolve(source, port: 0, family: address.family)[0]
      }
      resolved.append((address.host == name ? name : "\(name) (\(address.host))", target))
    }
    var named: [PingTarget.ID: String] = [:]
    for (name, target) in resolved { named[try pinger.start(target)] = name }
    try pinger.dropPrivileges()
    return named
  }

  private func sources(
    _ pinger: Pinger, stop: AsyncStream<Void>, interim: AsyncStream<Void>,
    into inputs: AsyncStream<Input>.Continuation
  ) -> [Task<Void, Never>] {
    let deadline = options.deadline
    return [
      Task { for await event in pinger.events { inputs.yield(.ping(event)) } },
      Task { for await _ in stop { inputs.yield(.stop) } },
      Task { for await _ in interim { inputs.yield(.interim) } },
      Task {
        guard let deadline, (try? await Task.sleep(for: deadline)) != nil else { return }
        inputs.yield(.stop)
      },
    ]
  }

  private func report(_ event: PingEvent, _ named: [PingTarget.ID: String], _ print: (String) -> Void) {
    guard let name = named[event.target] else { return }
    switch options.format {
    case .text: print(PingLine(name: name, event: event).text)
    case .json: print(PingLine(name: name, event: event).json)
    case .quiet: break
    }
  }

  private func summaries(
    _ named: [PingTarget.ID: String], _ statistics: [PingTarget.ID: PingStatistics], isInterim: Bool
  ) -> [String] {
    named.keys.sorted().compactMap { id in
      guard let name = named[id], let statistics = statistics[id] else { return nil }
      let summary = PingSummary(name: name, statistics: statistics, isInterim: isInterim)
      return options.format == .json ? summary.json : summary.text
    }
  }

  private var family: PingAddress.Family? { options.family.map { $0 == .ipv4 ? .ipv4 : .ipv6 } }

  private var port: UInt16 {
    switch options.pingProtocol {
    case .icmp: 0
    case .rtr(let port, _), .oneWay(let port): port
    }
  }

  private var echo: PingTarget.Echo {
    switch options.pingProtocol {
    case .icmp: .icmp
    case .oneWay: .oneWay
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
