/// How the devices of a fleet behave after an outage that all of them met.
struct Behaviour: Hashable, Sendable {
  let name: String
  /// Seconds over which the first requests are spread.
  var spread = 60.0
  /// `nil`: a device tries again after this many seconds, whatever it is answered.
  var fixedRetry: Double?
}
