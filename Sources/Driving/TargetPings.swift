import Coverage
import Pinging
import Settings

/// The pings of a drive to the user's own target. No control server has a part in it.
public struct TargetPings: Hashable, Sendable {
  /// The pinged host.
  public let target: DriveTarget
  /// The file with the secret of RTR tokens in its first line; `nil` for other protocols.
  private let secretFile: String?
  private var secret: [UInt8] = []

  /// The target of the configuration; `nil` when it has none.
  public init?(_ settings: TargetSettings) {
    guard let target = settings.target else { return nil }
    (self.target, secretFile) = (target, settings.secretFile)
  }

  /// A target with a known secret.
  init(_ target: DriveTarget, secret: [UInt8] = []) { (self.target, self.secret, secretFile) = (target, secret, nil) }

  /// Whether a wrong clock makes the pings worthless: the target refuses tokens of another time.
  var needsClock: Bool { target.kind == .rtr }

  /// Whether pings need CAP_NET_RAW, or a group of `net.ipv4.ping_group_range`.
  var needsRawSocket: Bool { target.kind == .icmp }

  /// The same with the secret of its file.
  /// - Throws: ``InputFileError``, ``TargetSecretError``
  public func withSecret() throws -> TargetPings {
    guard let secretFile else { return self }
    var copy = self
    do {
      copy.secret = Array(try InputFile.contents(secretFile, limit: 4096).prefix { $0 != 0x0A && $0 != 0x0D })
    } catch {
      throw TargetSecretError(reason: "\(error)")
    }
    guard !copy.secret.isEmpty else {
      throw TargetSecretError(reason: "the first line of \(secretFile) is empty: write the secret there")
    }
    return copy
  }

  /// The protocol of the pings. An RTR token is for the present time and this host's address: behind NAT the target sees another one.
  public func echo(from local: String?, at time: WallTime) -> PingTarget.Echo {
    switch target.kind {
    case .icmp: .icmp
    case .udpEcho: .udpEcho
    case .rtr:
      .rtr(
        token: PingToken.bytes(
          secret: secret, unixSeconds: UInt32(clamping: time.milliseconds / 1000),
          address: local.flatMap { PingAddress(numeric: $0, port: 0) }?.mapped ?? [UInt8](repeating: 0, count: 16)))
    }
  }
}

/// `pings.target.secret-file` gives no secret.
struct TargetSecretError: Error, Hashable, CustomStringConvertible {
  let reason: String

  /// One line for the operator.
  var description: String { "pings.target.secret-file: \(reason)" }
}
