import Coverage

/// Decides when the name of something that is pinged is resolved again. A pure value: time comes in as an argument, in
/// nanoseconds on the clock of ``Pinger/now``.
///
/// A server that moves leaves its old address silent. So does a network that is down: then looking up fails or finds the same
/// address, and the next attempt comes after as long a silence again.
public struct NameWatch: Hashable, Sendable {
  /// How long nothing was heard when the name is resolved again.
  public static let silence: Duration = .seconds(30)

  /// Where pings go now.
  public private(set) var address: PingAddress
  private var quietSince: UInt64
  private var lookUp = LookUp.none

  private enum LookUp: Hashable {
    case none, underWay
    /// The address has answered in the meantime: what is found does not matter any more.
    case pointless
  }

  public init(address: PingAddress, at now: UInt64) {
    self.address = address
    quietSince = now
  }

  /// The address has answered; or it could not be expected to, as nothing was sent.
  public mutating func heard(at now: UInt64) {
    quietSince = now
    if lookUp == .underWay { lookUp = .pointless }
  }

  /// Whether to look the name up now. After `true`, ``found(_:at:)`` or ``failed(at:)`` must follow.
  public mutating func wantsLookUp(at now: UInt64) -> Bool {
    let silence = UInt64(Self.silence.inNanoseconds)
    guard lookUp == .none, now >= quietSince, now - quietSince >= silence else { return false }
    lookUp = .underWay
    return true
  }

  /// The name has these addresses.
  /// - Returns: Where pings shall go from now on; `nil`: where they go already.
  public mutating func found(_ addresses: [PingAddress], at now: UInt64) -> PingAddress? {
    let isPointless = lookUp == .pointless
    failed(at: now)
    // Another family would need another socket; and as long as the name has the address, there is no reason to leave it.
    guard !isPointless, !addresses.contains(address), let new = addresses.first(where: { $0.family == address.family })
    else { return nil }
    address = new
    return new
  }

  /// The name could not be resolved.
  public mutating func failed(at now: UInt64) {
    if lookUp == .underWay { quietSince = now }
    lookUp = .none
  }
}
