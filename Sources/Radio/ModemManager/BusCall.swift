/// A call of a method over D-Bus, and what its answer is for.
struct BusCall: Hashable, Sendable {
  enum Argument: Hashable, Sendable {
    case bool(Bool)
    case unsigned(UInt32)
    case string(String)
  }

  /// What the answer is for.
  enum Purpose: Hashable, Sendable {
    case match
    case owner
    case objects
    case liveness
    case signalSetup(String)
    case locationSetup(String)
    case cells(String)
  }

  let purpose: Purpose
  let destination: String
  let path: String
  let interface: String
  let member: String
  var arguments: [Argument] = []
}
