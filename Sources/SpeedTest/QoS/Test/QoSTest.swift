import OrderedJSON

/// One type of QoS test: how it measures, and the members of its result. ``QoSTestList`` makes it from the parameters of an
/// objective; ``QoSRun`` runs it. Bad parameters do not fail in `init`: `measure` throws, so that each objective has a result.
protocol QoSTest: Sendable {
  /// The measurement, before it becomes members of a result.
  associatedtype Finding: Sendable

  /// ns that the test may take. The run adds a grace before it gives the test up.
  var limit: Int64 { get }
  /// The objective as the result repeats it, under `TYPE_objective_NAME`.
  var objective: [JSON.Member] { get }
  /// Runs the test; it may block, as it has a thread of its own.
  /// - Throws: ``SpeedTestError`` when nothing was found; ``QoSStatus/init(_:)`` makes TIMEOUT or ERROR of it.
  func measure(_ context: QoSContext) throws(SpeedTestError) -> Finding
  /// The members of the result.
  func members(_ finding: Finding) -> [JSON.Member]
  /// The members of the result of a test that found nothing, for the given reason.
  func members(without reason: QoSStatus) -> [JSON.Member]
  /// The status of a finding.
  func status(_ finding: Finding) -> QoSStatus
}

extension QoSTest {
  /// Runs the test to a result, also after an error.
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
