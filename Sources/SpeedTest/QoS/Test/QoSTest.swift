import OrderedJSON

/// One type of QoS test: what it does, and its result's members.
protocol QoSTest: Sendable {
  /// What the test measured.
  associatedtype Finding: Sendable

  /// Time limit of the test in ns.
  var limit: Int64 { get }
  /// The objective as the result repeats it.
  var objective: [JSON.Member] { get }
  /// Runs the test on a thread of its own.
  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding
  /// The members of the result.
  func members(_ finding: Finding) -> [JSON.Member]
  /// The members of the result of a test that found nothing.
  func members(without reason: QoSStatus) -> [JSON.Member]
  /// The status of what was found.
  func status(_ finding: Finding) -> QoSStatus
}

extension QoSTest {
  /// Runs the test to a result, whatever happens.
  func result(_ context: QoSContext) -> (status: QoSStatus, members: [JSON.Member]) {
    do {
      let finding = try measure(context)
      return (status(finding), objective + members(finding))
    } catch {
      return failed(QoSStatus(error))
    }
  }

  /// The result of a test that could not run, or did not return.
  func failed(_ status: QoSStatus) -> (status: QoSStatus, members: [JSON.Member]) {
    (status, objective + members(without: status))
  }
}
