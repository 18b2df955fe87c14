import Store

/// Which fences and speed tests to export, by their state. What the server refused is pending: it can be sent again on command.
enum ExportSelection: String, Hashable, Sendable, CaseIterable {
  /// `settled`: submitted or kept, so that nothing more becomes of it.
  case settled, submitted, kept, pending, all

  /// Fences that overlap Wi-Fi time are never sent, so that only `all` has them.
  func selects(_ stored: StoredFence) -> Bool {
    let isKept = stored.session.target != nil && stored.fence.isSubmittable
    return switch self {
    case .settled: stored.submitted != nil || isKept
    case .submitted: stored.submitted != nil
    case .kept: isKept
    case .pending: stored.submitted == nil && stored.fence.isSubmittable && !isKept
    case .all: true
    }
  }

  /// Speed tests have a control server, so that none is kept.
  func selects(_ test: StoredSpeedTest) -> Bool {
    switch self {
    case .settled, .submitted: test.state == .submitted
    case .kept: false
    case .pending: [.waiting, .sending, .quarantined].contains(test.state)
    case .all: true
    }
  }
}
