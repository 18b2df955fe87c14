import DriveStore

/// Which fences and speed tests to export, by their state.
public enum ExportSelection: String, Hashable, Sendable, CaseIterable {
  case submitted, pending, all

  func selects(_ stored: StoredFence) -> Bool {
    switch self {
    case .submitted: stored.submitted != nil
    case .pending: stored.submitted == nil && stored.fence.isSubmittable
    case .all: true
    }
  }

  func selects(_ test: StoredSpeedTest) -> Bool {
    switch self {
    case .submitted: test.state == .submitted
    case .pending: test.state == .waiting || test.state == .sending
    case .all: true
    }
  }
}
