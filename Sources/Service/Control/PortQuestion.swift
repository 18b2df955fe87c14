import Driving
import Foundation

/// Whether to look for the programs that have receivers' ports open: only without a position, because the search goes through all
/// processes.
struct PortQuestion: Hashable, Sendable {
  /// The receivers that gpsd names.
  let receivers: [String]

  /// A receiver reports once a second; a position of this age came before some gap.
  private static let freshSeconds = 5.0

  /// - Parameter status: ``ServiceStatus``'s JSON.
  /// - Returns: `nil` when there is a position, and for text that is no such JSON.
  init?(status: String) {
    // A service of another version may answer otherwise: its status is shown without the ports.
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(status.utf8)) else { return nil }
    let isWaiting = answer.drives.contains { $0.warnings.contains { $0.hasPrefix(DriveStatus.waitingForGPS) } }
    let age = answer.position?.latitude == nil ? nil : answer.position?.age_s
    guard isWaiting || age.map({ $0 > Self.freshSeconds }) ?? true else { return nil }
    receivers = answer.receivers ?? []
  }

  /// The parts of the status that decide.
  private struct Answer: Decodable {
    struct Position: Decodable {
      let latitude: Double?
      let age_s: Double?
    }
    struct Drive: Decodable {
      let warnings: [String]
    }
    let position: Position?
    let receivers: [String]?
    let drives: [Drive]
  }
}
