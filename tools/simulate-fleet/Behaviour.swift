/// How the devices of a fleet behave after an outage that all of them met.
struct Behaviour: Hashable, Sendable {
  let name: String
  /// Seconds over which the first requests are spread.
  var spread = 60.0
  /// A device retries after this many seconds, for any answer; `nil`: as its gate decides.
  var fixedRetry: Double?
}
