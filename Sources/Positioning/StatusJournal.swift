/// Keeps retries and a talkative gpsd from flooding listeners and the log: a reason is reported when it changes, and logged once more each
/// minute; of each kind so many lines a minute are logged, and the rest is counted. A pure value.
struct StatusJournal {
  struct Verdict: Hashable {
    let isNews: Bool
    /// Whether to log it, and how many lines of its kind were left out since the last one; `nil`: leave it out.
    let logged: Int?
  }

  /// Lines of one kind in one ``reminder``.
  static let allowance = 6

  /// What limits itself together.
  private enum Kind: Hashable, CaseIterable {
    case connection, complaint, receivers, position, clock

    init(_ status: PositioningStatus) {
      self =
        switch status {
        case .connecting, .connected, .disconnected: .connection
        case .complaint: .complaint
        case .devices: .receivers
        case .positioned, .noFix: .position
        case .clockDifference: .clock
        }
    }
  }

  /// The lines of a kind.
  private struct Account {
    var began: ContinuousClock.Instant?
    var lines = 0
    var leftOut = 0
    /// The state that the log has not, because there were too many before it.
    var waiting: PositioningStatus?
  }

  private let reminder: Duration
  private var accounts: [Kind: Account] = [:]
  /// The connection's state as listeners know it.
  private var link: PositioningStatus?
  /// The log's last word about the connection.
  private var loggedLink: PositioningStatus?
  private var loggedEnd: (status: PositioningStatus, at: ContinuousClock.Instant)?
  private var loggedComplaint: (status: PositioningStatus, at: ContinuousClock.Instant)?

  init(reminder: Duration) {
    self.reminder = reminder
  }

  mutating func note(_ status: PositioningStatus, at now: ContinuousClock.Instant) -> Verdict {
    switch status {
    case .connecting, .connected:
      link = status
      guard loggedLink != status else { return Verdict(isNews: true, logged: nil) }
      let logged = log(status, at: now)
      if logged != nil { loggedLink = status }
      return Verdict(isNews: true, logged: logged)
    case .disconnected:
      let isNews = link != status
      link = status
      guard isDue(status, after: loggedEnd, now) else {
        accounts[.connection, default: Account()].leftOut += 1
        return Verdict(isNews: isNews, logged: nil)
      }
      let logged = log(status, at: now)
      if logged != nil { (loggedEnd, loggedLink) = ((status, now), status) }
      return Verdict(isNews: isNews, logged: logged)
    case .complaint:
      guard isDue(status, after: loggedComplaint, now) else {
        accounts[.complaint, default: Account()].leftOut += 1
        return Verdict(isNews: false, logged: nil)
      }
      let logged = log(status, at: now)
      if logged != nil { loggedComplaint = (status, now) }
      return Verdict(isNews: logged != nil, logged: logged)
    case .devices, .positioned, .noFix, .clockDifference:
      return Verdict(isNews: true, logged: log(status, at: now))
    }
  }

  /// What is to be logged now that some time has passed: of each kind that was cut short, how things stand.
  mutating func settle(at now: ContinuousClock.Instant) -> [(status: PositioningStatus, leftOut: Int)] {
    Kind.allCases.compactMap { kind in
      guard let account = accounts[kind], let waiting = account.waiting, let began = account.began,
        now >= began + reminder, let leftOut = log(waiting, at: now)
      else { return nil }
      // It is one of those that were left out.
      return (waiting, leftOut - 1)
    }
  }

  /// Counts the line in its account.
  /// - Returns: How many were left out before it; `nil` when it is left out itself.
  private mutating func log(_ status: PositioningStatus, at now: ContinuousClock.Instant) -> Int? {
    var account = accounts[Kind(status)] ?? Account()
    defer { accounts[Kind(status)] = account }
    if let began = account.began, now < began + reminder {
      guard account.lines < Self.allowance else {
        account.leftOut += 1
        account.waiting = status
        return nil
      }
    } else {
      (account.began, account.lines) = (now, 0)
    }
    let leftOut = account.leftOut
    (account.leftOut, account.waiting) = (0, nil)
    account.lines += 1
    return leftOut
  }

  private func isDue(
    _ status: PositioningStatus, after logged: (status: PositioningStatus, at: ContinuousClock.Instant)?,
    _ now: ContinuousClock.Instant
  ) -> Bool {
    guard let logged, logged.status == status else { return true }
    return now >= logged.at + reminder
  }
}
