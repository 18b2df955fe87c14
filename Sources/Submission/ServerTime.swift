import Coverage
import DriveStore

/// What the control server's clock says of this host's: by that clock things become too old to be kept. A pure value.
struct ServerTime: Sendable {
  /// Clocks that are further apart do not agree; ages are counted in days.
  static let tolerance: Duration = .seconds(86_400)
  private var told: (server: WallTime, boot: Duration)?

  /// - Parameters:
  ///   - time: What the server has just said.
  ///   - boot: The time since the host's boot.
  mutating func note(_ time: WallTime, at boot: Duration) { told = (time, boot) }

  /// - Parameter wall: What the host's clock says.
  func witness(of wall: WallTime, at boot: Duration) -> ClockWitness {
    guard let told else { return .silent }
    let lead: Duration = (wall - told.server) - (boot - told.boot)
    return (.zero - Self.tolerance...Self.tolerance).contains(lead) ? .agrees : .contradicts
  }
}
