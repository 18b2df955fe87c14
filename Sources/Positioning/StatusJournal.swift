/// Keeps retries from flooding listeners and the log: a reason is told when it changes, and logged once more each minute.
struct StatusJournal {
  struct Verdict: Hashable {
    let isNews: Bool
    let isForTheLog: Bool
  }

  private let reminder: Duration
  /// The connection's state as listeners know it.
  private var link: PositioningStatus?
  private var loggedEnd: (status: PositioningStatus, at: ContinuousClock.Instant)?
  private var loggedComplaint: (status: PositioningStatus, at: ContinuousClock.Instant)?
  /// What the log's last word about the connection was.
  private var loggedLink: PositioningStatus?

  init(reminder: Duration) {
    self.reminder = reminder
  }

  mutating func note(_ status: PositioningStatus, at now: ContinuousClock.Instant) -> Verdict {
    switch status {
    case .connecting, .connected:
      link = status
      let isForTheLog = loggedLink != status
      loggedLink = status
      return Verdict(isNews: true, isForTheLog: isForTheLog)
    case .disconnected:
      let isNews = link != status
      link = status
      guard isDue(status, after: loggedEnd, now) else { return Verdict(isNews: isNews, isForTheLog: false) }
      loggedEnd = (status, now)
      loggedLink = status
      return Verdict(isNews: isNews, isForTheLog: true)
    case .complaint:
      let isNews = isDue(status, after: loggedComplaint, now)
      if isNews { loggedComplaint = (status, now) }
      return Verdict(isNews: isNews, isForTheLog: isNews)
    case .devices, .positioned, .noFix, .clockDifference:
      return Verdict(isNews: true, isForTheLog: true)
    }
  }

  private func isDue(
    _ status: PositioningStatus, after logged: (status: PositioningStatus, at: ContinuousClock.Instant)?,
    _ now: ContinuousClock.Instant
  ) -> Bool {
    guard let logged, logged.status == status else { return true }
    return now >= logged.at + reminder
  }
}
