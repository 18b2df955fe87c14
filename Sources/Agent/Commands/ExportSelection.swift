import DriveStore

/// Which fences and speed tests to export, by their state.
public enum ExportSelection: String, Hashable, Sendable, CaseIterable {
  case submitted, pending, all

  /// Fences that overlap Wi-Fi time are never sent, so `pending` leaves them out. Fences that the server refused are pending.
  func selects(_ stored: StoredFence) -> Bool {
    switch self {
    case .submitted: stored.submitted != nil
    case .pending: stored.submitted == nil && stored.fence.isSubmittable
    case .all: true
    }
  }

  /// Tests that the server refused are in `all` only.
  func selects(_ test: StoredSpeedTest) -> Bool {
    switch self {
    case .submitted: test.state == .submitted
    case .pending: test.state == .waiting || test.state == .sending
    case .all: true
    }
  }
}
