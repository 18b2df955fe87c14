import Coverage

/// The way that pings to one host leave this one: which link, and with which address of it.
public struct Way: Hashable, Sendable {
  /// The host; `nil`: any.
  public let destination: String?
  public let interface: String
  /// This host's address on the link, numeric; `nil`: the kernel names none.
  public let address: String?

  public init(destination: String?, interface: String, address: String?) {
    self.destination = destination
    self.interface = interface
    self.address = address
  }
}

/// Notices that pings leave by another link, or with another address, than before. A pure value.
///
/// Time without a network between two readings is no change, if the link and the address are the same afterwards. Ways to
/// different hosts say nothing of each other. Wi-Fi is left out: nothing is sent there.
public struct WayWatch: Hashable, Sendable {
  private var last: Way?

  public init() {}

  /// - Returns: Whether `reading` is the first one with another link or another address.
  public mutating func hasChanged(_ reading: PathReading) -> Bool {
    guard reading.path == .cellular, let way = reading.way else { return false }
    defer { last = way }
    guard let last, last.destination == way.destination else { return false }
    return last != way
  }
}
