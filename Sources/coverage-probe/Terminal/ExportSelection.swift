import Store

/// Which fences and speed tests to export, by their state. What the server refused is pending: it can be sent again on command.
enum ExportSelection: String, Hashable, Sendable, CaseIterable {
  case submitted, pending, all

  /// Fences that overlap Wi-Fi time are never sent, so `pending` leaves them out.
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
    case .pending: [.waiting, .sending, .quarantined].contains(test.state)
    case .all: true
    }
  }
}
