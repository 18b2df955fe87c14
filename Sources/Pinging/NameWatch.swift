import Coverage

/// Decides when the name of a pinged host is resolved again. A pure value: time comes in as an argument, in nanoseconds on the clock of
/// ``Pinger/now``.
///
/// A server that moves to another address no longer answers at the old one. During a network outage the address is silent, too: resolving
/// then fails or yields the same address, and the next attempt follows after the same time of silence.
public struct NameWatch: Hashable, Sendable {
  /// The name is resolved again after this time without an answer.
  public static let silence: Duration = .seconds(30)

  /// The address to which pings go.
  public private(set) var address: PingAddress
  private var quietSince: UInt64
  private var lookUp = LookUp.none

  private enum LookUp: Hashable {
    case none, underWay
    /// Under way, but the address has answered since: the result is ignored.
    case pointless
  }

  /// - Parameter now: The start of the first time of silence.
  public init(address: PingAddress, at now: UInt64) {
    self.address = address
    quietSince = now
  }

  /// Starts the time of silence again: the address has answered, or it could not because no ping was sent.
  public mutating func heard(at now: UInt64) {
    quietSince = now
    if lookUp == .underWay { lookUp = .pointless }
  }

  /// Whether to resolve the name now. After `true`, call ``found(_:at:)`` or ``failed(at:)``.
  public mutating func wantsLookUp(at now: UInt64) -> Bool {
    let silence = UInt64(Self.silence.inNanoseconds)
    guard lookUp == .none, now >= quietSince, now - quietSince >= silence else { return false }
    lookUp = .underWay
    return true
  }

  /// Applies the addresses of the name.
  /// - Returns: The new address for pings; `nil`: pings stay at ``address``.
  public mutating func found(_ addresses: [PingAddress], at now: UInt64) -> PingAddress? {
    // It can be the answer for an earlier test's watch.
    let isPointless = lookUp != .underWay
    failed(at: now)
    // Stay at the address while the name has it. Another family would need another socket.
    guard !isPointless, !addresses.contains(address), let new = addresses.first(where: { $0.family == address.family })
    else { return nil }
    address = new
    return new
  }

  /// Applies a failure to resolve the name.
  /// - Returns: Whether the address was silent meanwhile: else the failure does not matter.
  @discardableResult
  public mutating func failed(at now: UInt64) -> Bool {
    defer { lookUp = .none }
    guard lookUp == .underWay else { return false }
    quietSince = now
    return true
  }
}
