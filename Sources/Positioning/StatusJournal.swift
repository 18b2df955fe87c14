/// Limits how often statuses are delivered and logged, so that retries and a noisy gpsd do not flood listeners and the log. A reason is
/// delivered when it changes, and logged again each minute; of each kind, a limited number of lines a minute is logged and the rest counted.
/// A pure value.
struct StatusJournal {
  struct Verdict: Hashable {
    /// Whether to deliver it.
    let isNews: Bool
    /// The number of lines of its kind that were left out since the last one; `nil`: do not log it.
    let logged: Int?
  }

  /// The largest number of lines of one kind in the time of `reminder`.
  static let allowance = 6

  /// A group of statuses with a common limit.
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

  /// The count of lines of one kind.
  private struct Account {
    var began: ContinuousClock.Instant?
    var lines = 0
    var leftOut = 0
    /// The latest status that was left out; it is logged later.
    var waiting: PositioningStatus?
  }

  private let reminder: Duration
  private var accounts: [Kind: Account] = [:]
  /// The last delivered status of the connection.
  private var link: PositioningStatus?
  /// The last logged status of the connection.
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
      guard loggedLink != status else {
        // The log already says so: an end that was left out since would contradict it.
        accounts[.connection]?.waiting = nil
        return Verdict(isNews: true, logged: nil)
      }
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

  /// The statuses to log after some time: of each kind with omitted lines, the latest one.
  mutating func overdueLines(at now: ContinuousClock.Instant) -> [(status: PositioningStatus, leftOut: Int)] {
    Kind.allCases.compactMap { kind in
      guard let account = accounts[kind], let waiting = account.waiting, let began = account.began,
        now >= began + reminder, let leftOut = log(waiting, at: now)
      else { return nil }
      // The status itself is one of the lines that were left out.
      return (waiting, leftOut - 1)
    }
  }

  /// Counts a line.
  /// - Returns: The number of lines that were left out before it; `nil` when it is left out itself.
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
