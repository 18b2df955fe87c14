import Coverage
import Pinging
import Submission

/// Where pings may go: a test that the control server granted, or the user's own target.
struct GrantedTest: Hashable, Sendable {
  enum Source: Hashable, Sendable {
    case test(CoverageGrant)
    case target(TargetPings)
  }

  let source: Source
  /// The preparation that requested it: identifies the link and the host address of the request.
  let generation: TestSelection.Generation
  let requested: DriveTime
  /// The time in the request, right or wrong. The server relates the fences to it, even if the host's clock is set
  /// before the test is used.
  let requestTime: WallTime
  /// The address of this host from which packets leave for the resolved host, if it was read.
  var localAddress: String?
  /// The IP version of the user's own target, if its name has both; `nil`: either.
  var preferredFamily: IPVersion?

  init(source: Source, generation: TestSelection.Generation, requested: DriveTime, requestTime: WallTime) {
    (self.source, self.generation, self.requested, self.requestTime) = (source, generation, requested, requestTime)
  }

  init(coverage: CoverageGrant, generation: TestSelection.Generation, requested: DriveTime, requestTime: WallTime) {
    self.init(source: .test(coverage), generation: generation, requested: requested, requestTime: requestTime)
  }

  /// The control server's answer; `nil` for the user's own target.
  var coverage: CoverageGrant? { if case .test(let coverage) = source { coverage } else { nil } }

  /// The pinged host, as the control server or the configuration names it.
  var host: String {
    switch source {
    case .test(let coverage): coverage.pingHost
    case .target(let pings): pings.target.host
    }
  }

  /// The test, or what becomes of fences without one, for the log.
  var subject: String {
    switch source {
    case .test(let coverage): "test \(coverage.testUUID)"
    case .target(let pings): pings.target.note
    }
  }

  /// Its UDP port; 0 for ICMP.
  var port: UInt16 {
    switch source {
    case .test(let coverage): coverage.pingPort
    case .target(let pings): pings.target.port ?? 0
    }
  }

  /// The protocol of its pings.
  /// - Parameters:
  ///   - local: The address of this host from which they leave, for a token that this host makes itself.
  ///   - time: The present wall time, for such a token.
  func echo(from local: String?, at time: WallTime) -> PingTarget.Echo {
    switch source {
    case .test(let coverage): .rtr(token: coverage.pingToken)
    case .target(let pings): pings.echo(from: local, at: time)
    }
  }

  /// Whether pings may be sent on it: it has not expired, and the link is still the one of its request.
  func isUsable(at now: DriveTime, in session: TestSelection, _ policy: RecoveryPolicy) -> Bool {
    session.mayUse(requestedFor: generation) && now - requested < policy.life(limit: coverage?.maximumSession)
  }

  /// A line for the log when pings must use another IP version than the token's, as after a request through a proxy;
  /// else `nil`.
  func oddity(forPingsOf family: IPVersion?) -> String? {
    guard let family, let version = coverage?.ipVersion, version != family else { return nil }
    return "the control server made the ping token for \(version), but pings.ip-version is \(family.rawValue): "
      + "the ping server will refuse it"
  }
}

/// Why there is no test to ping on.
struct TestTrouble: Hashable, Sendable {
  /// One line for the log.
  let text: String
  /// Equal for troubles of the same kind; figures that change with each try, such as the seconds of a wait, are no part of it.
  let subject: String
  /// The reason in words that stay true until the next try.
  let reason: String
  /// Whether the server's answer or a fault of this host is the reason, so that the network may work.
  let mayHaveNetwork: Bool

  init(_ text: String, mayHaveNetwork: Bool = false) {
    (self.text, subject, reason, self.mayHaveNetwork) = (text, text, text, mayHaveNetwork)
  }

  /// - Parameters:
  ///   - error: The error of a request for a test.
  ///   - isNameUnknown: Whether a name server says that the server's name does not exist: the network carried its answer.
  init(_ error: any Error, isNameUnknown: Bool = false) {
    text = "\(error)"
    reason = (error as? ServerGate.Hold)?.reason ?? text
    mayHaveNetwork = isNameUnknown || (error as? ServerFailure)?.mayHaveNetwork ?? true
    subject =
      switch error {
      case is ServerGate.Hold: "held"
      case ServerFailure.tooManyRequests: "429"
      case ServerFailure.serverTrouble(let status, _, _): "\(status)"
      default: "\(error)"
      }
  }
}
