/// The interface and the source address with which pings to one host leave.
public struct Way: Hashable, Sendable {
  /// The host that is pinged; `nil`: the default route.
  public let destination: String?
  /// The name of the interface.
  public let interface: String
  /// The numeric source address; `nil` when the kernel gives none.
  public let address: String?
}
