import Coverage
import Foundation
import Pinging
import Settings
import Store
import Submission

/// The control server: name, route, TLS, whether it speaks the protocol, its clock, and whether it grants a test.
enum ServerExamination {
  /// The results of the requests. Members are `nil` for requests that were not sent.
  struct Answers: Sendable {
    /// Why nothing could be asked.
    var trouble: String?
    /// Why and for how long requests have to wait, so that no test was requested, and without ``registration`` nothing was.
    var hold: ServerGate.Hold?
    /// The time until the answer, or the reason why there is no usable one.
    var registration: Result<Duration, ServerFailure>?
    /// Why the server's name has no address; looked up when the registration cannot reach it.
    var nameTrouble: NameError?
    /// The server's clock minus the host's, rounded to a second by the server.
    var clockDifference: Duration?
    /// The request for a test by each measured link.
    var tests: [Test] = []
  }

  /// The answer to a request for a test. ``PingExamination`` pings with its token; no fence is ever submitted for it.
  struct Test: Sendable {
    let link: LinkSettings
    let answer: Result<CoverageGrant, ServerFailure>
  }

  /// The largest difference of the clocks without a warning: the server's `Date` has a resolution of 1 s, and a round trip can
  /// take seconds.
  static let tolerance: Duration = .seconds(3)

  /// Registers and requests a test by each link, as a drive does, unless the service has stored a wait for this server, which is read
  /// before each request: `doctor` must not add to the load of a server that asked for fewer requests.
  static func ask(
    _ configuration: ProbeConfiguration, _ device: Device, by links: [LinkSettings],
    gate: (String) -> ServerGate.Hold?, wall: @Sendable () -> WallTime
  ) async -> Answers {
    guard let url = configuration.controlServer.url else { return Answers() }
    var answers = Answers()
    answers.hold = gate(url)
    guard answers.hold == nil else { return answers }
    do {
      let client = try ControlServerClient(
        url: url, caFile: configuration.controlServer.caFile,
        // Two requests of 10 s each keep the examination of one link within 20 s.
        requestTimeout: min(configuration.controlServer.requestTimeout, .seconds(10)), device: device)
      await ask(
        client, known: knownClient(configuration, at: url), configuration, by: links, gate: gate, wall: wall, &answers)
    } catch {
      answers.trouble = answers.trouble ?? "\(error)"
    }
    return answers
  }

  /// The client UUID of this device's registration; `nil` without one that can be read.
  private static func knownClient(_ configuration: ProbeConfiguration, at url: String) -> String? {
    // A store that cannot be read is a finding of StateExamination.
    try? StoreReader(directory: StateDirectory(path: configuration.stateDirectory)).clientUUID(at: url)
  }

  /// Sends the requests. A failed registration ends it: a request for a test needs the client's UUID.
  private static func ask(
    _ client: ControlServerClient, known: String?, _ configuration: ProbeConfiguration, by links: [LinkSettings],
    gate: (String) -> ServerGate.Hold?, wall: @Sendable () -> WallTime, _ answers: inout Answers
  ) async {
    let begin = ContinuousClock.now
    let uuid: String
    do {
      uuid = try await client.settings(clientUUID: known)
      answers.registration = .success(ContinuousClock.now - begin)
    } catch {
      answers.registration = .failure(error)
      if case .unreachable = error { answers.nameTrouble = await nameTrouble(of: configuration) }
      return
    }
    if let date = client.latestDate {
      // The server wrote the date about half a round trip before the answer came, and dropped the fraction of the second, which
      // is half a second on average.
      let hostThen = wall().adding(.zero - (ContinuousClock.now - date.received) - date.roundTrip / 2)
      answers.clockDifference = date.date.adding(.milliseconds(500)) - hostThen
    }
    for link in links {
      answers.hold = configuration.controlServer.url.flatMap(gate)
      guard answers.hold == nil else { return }
      do throws(ServerFailure) {
        // The request leaves by the interface of the pings, because both servers must see the same address.
        let grant = try await client.requestCoverage(
          CoverageRequest(clientUUID: uuid, loopUUID: nil, time: wall()),
          by: .fresh(interface: link.interface, version: configuration.pings.family))
        answers.tests.append(Test(link: link, answer: .success(grant)))
      } catch {
        answers.tests.append(Test(link: link, answer: .failure(error)))
      }
    }
  }

  private static func nameTrouble(of configuration: ProbeConfiguration) async -> NameError? {
    guard let host = configuration.controlServer.url.flatMap({ URL(string: $0)?.host() }) else { return nil }
    do throws(NameError) {
      _ = try await PingAddress.resolve(
        host.trimmingCharacters(in: ["[", "]"]), port: 0, family: configuration.pings.family)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Judgement

  /// No finding without an answer and without a reason: no server is configured then, which is a finding about the configuration.
  static func findings(_ answers: Answers, _ configuration: ProbeConfiguration) -> [Finding] {
    if let trouble = answers.trouble { return [Finding(.fault, .server, trouble)] }
    let hold = answers.hold.map { hold in
      Finding(
        .warning, .server,
        "\(hold.reason): no request is sent now, and a drive gets no test for \(seconds(hold.wait)) s",
        advice: "wait; the service waits by itself, and `submit --force` asks once")
    }
    switch answers.registration {
    case nil: return hold.map { [$0] } ?? []
    case .failure(let failure)?:
      guard let trouble = answers.nameTrouble else {
        return [Finding(.fault, .server, "\(failure)", advice: advice(failure, isFirst: true))]
      }
      return [
        Finding(
          .fault, .server, "cannot reach the control server: \(trouble)",
          advice: trouble.isTemporary
            ? "is there a network? no name server answers; /etc/resolv.conf or `resolvectl status` names them"
            : "correct the name in control-server.url")
      ]
    case .success(let time)?:
      var findings = [Finding(.good, .server, "the control server answers after \(time.inMilliseconds) ms")]
      if let difference = answers.clockDifference { findings.append(clock(difference)) }
      if let hold { findings.append(hold) }
      let isAnyGranted = answers.tests.contains { if case .success = $0.answer { true } else { false } }
      return findings + answers.tests.flatMap(self.findings).map { isAnyGranted ? $0.lowered : $0 }
    }
  }

  private static func findings(_ test: Test) -> [Finding] {
    let place = test.link.name.map { "link \($0): " } ?? ""
    switch test.answer {
    case .failure(let failure):
      return [Finding(.fault, .server, "\(place)no test: \(failure)", advice: advice(failure))]
    case .success(let grant):
      let good = Finding(
        .good, .server, "\(place)it grants tests; pings go to \(grant.pingHost), port \(grant.pingPort)")
      return [good] + grant.oddities.map { Finding(.note, .server, place + $0) }
    }
  }

  /// Rounded up: at the end of the last second, a request may leave.
  private static func seconds(_ wait: Duration) -> Int64 { (wait.inMilliseconds + 999) / 1000 }

  private static func clock(_ difference: Duration) -> Finding {
    let seconds = abs(difference.inSeconds)
    let words = "\(Int(seconds.rounded())) s \(difference > .zero ? "behind" : "ahead of") the control server's"
    guard seconds > tolerance.inSeconds else {
      return Finding(.good, .server, "its clock agrees with the host's within \(Int(tolerance.inSeconds)) s")
    }
    return Finding(
      .warning, .server, "the host's clock is \(words)",
      advice: "install a time service; docs/clock.md says which clock is selected")
  }

  /// - Parameter isFirst: Whether the request is the first one, which shows that the URL's path is wrong.
  private static func advice(_ failure: ServerFailure, isFirst: Bool = false) -> String? {
    switch failure {
    case .unreachable(_, mayHaveNetwork: true, _), .noAnswer(_, mayHaveNetwork: true):
      "correct what the line names: control-server.url, control-server.ca-file, the server, or this host"
    case .unreachable, .noAnswer: "is there a network? then check control-server.url, the name and the firewall"
    case .tooManyRequests: "wait; the service waits by itself"
    case .refused(status: 404, _) where isFirst:
      "correct the path of control-server.url, such as /RMBTControlServer; if it is right, ask the server's operator"
    case .refused, .unusableAnswer: "ask the server's operator; the line has the server's words"
    case .serverTrouble: "try again later; fences wait in the store"
    case .notTheServer: "log in to the captive portal, or correct control-server.url"
    }
  }
}
