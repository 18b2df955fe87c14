import Coverage
import Foundation
import Settings
import Submission
import SystemServices
import TestSupport
import Testing

@testable import Networking
@testable import Pinging
@testable import Positioning
@testable import coverage_probe

/// How each examination judges its measurements.
struct ExaminationTests {
  // MARK: Host

  private func host(_ change: (inout HostExamination.Measures) -> Void) -> [Finding.Grade] {
    var measures = HostExamination.Measures(
      wall: WallTime(microseconds: 1_800_000_000_000_000), isSynchronised: true, overshoots: [.microseconds(80)])
    change(&measures)
    return HostExamination.findings(measures).map(\.grade)
  }

  @Test("when the clock is impossible, then the finding is a warning; without a time service, a note")
  func clock() {
    #expect(host { _ in } == [.good, .good, .good])
    #expect(host { $0.wall = WallTime(microseconds: 0) } == [.warning, .good, .good])
    #expect(host { $0.isSynchronised = false } == [.note, .good, .good])
    #expect(host { $0.isSynchronised = nil } == [.note, .good, .good])
  }

  @Test("when the clock is wrong or has no time service, then the line has its time, and the advice a remedy")
  func clockWords() throws {
    var measures = HostExamination.Measures(
      wall: WallTime(microseconds: 0), isSynchronised: true, overshoots: [.microseconds(80)])
    let impossible = try #require(HostExamination.findings(measures).first)
    #expect(impossible.text.hasSuffix("an impossible time: 1970-01-01T00:00:00.000Z"), "\(impossible.text)")
    #expect(impossible.advice?.contains("fences are kept and not sent") == true)
    (measures.wall, measures.isSynchronised) = (.sampleStart, false)
    let alone = try #require(HostExamination.findings(measures).first)
    #expect(alone.text.contains(WallTime.sampleStart.iso8601))
    #expect(alone.advice?.contains("chrony") == true)
  }

  @Test("when 6 of 100 sleeps end late, then the finding is a warning; with 5 it is good")
  func timer() {
    func sleeps(late: Int) -> [Duration] { (0..<100).map { $0 < late ? .milliseconds(6) : .microseconds(50) } }
    #expect(host { $0.overshoots = sleeps(late: 5) } == [.good, .good, .good])
    #expect(host { $0.overshoots = sleeps(late: 6) } == [.good, .warning, .good])
  }

  @Test("when the host is measured, then every sleep took at least its time")
  func measured() async {
    let measures = await HostExamination.measure(wall: .sampleStart, isEchoNeeded: false)
    #expect(measures.overshoots.count == 50 && measures.overshoots.allSatisfy { $0 >= .zero })
    #expect(measures.wall == .sampleStart)
  }

  // MARK: Receiver

  private func receiver(
    _ events: [PositioningEvent], _ change: (inout ProbeConfiguration) -> Void = { _ in }
  ) -> [Finding] {
    var configuration = ProbeConfiguration()
    change(&configuration)
    var heard = ReceiverExamination.Heard()
    for event in events { heard.hear(event) }
    return ReceiverExamination.findings(heard, configuration)
  }

  private func fix(accuracy: Double?) -> PositioningEvent {
    .fix(
      PositionedFix(
        fix: Fix(coordinate: Coordinate(latitude: 48.2, longitude: 16.3), accuracy: accuracy), arrival: .now,
        delivered: .now, accuracyRule: .gst, device: "/dev/ttyACM0"))
  }

  private let connected: [PositioningEvent] = [
    .status(.connected(release: "3.22")), .status(.devices(["/dev/ttyACM0"])),
  ]

  @Test("when positions are accurate, then gpsd and its receiver are good")
  func positions() {
    let findings = receiver(connected + [fix(accuracy: 30), fix(accuracy: 4.26)])
    #expect(findings.map(\.grade) == [.good, .good])
    #expect(findings.last?.text == "/dev/ttyACM0: accuracy 4.3 m; fences need 15 m or better")
  }

  @Test("when gpsd was lost, has no receiver, no position or no accurate one, then the finding is a fault")
  func faults() {
    #expect(
      receiver(connected + [.status(.disconnected(reason: "it ended"))]).map(\.text) == [
        "no gpsd at 127.0.0.1:2947: it ended"
      ])
    #expect(receiver([]).map(\.grade) == [.fault])
    #expect(receiver([.status(.connected(release: nil))]).map(\.grade) == [.good, .fault])
    #expect(receiver(connected).map(\.grade) == [.good, .fault])
    #expect(
      receiver(connected + [.fix(.init(fix: .lost, arrival: .now, delivered: .now, accuracyRule: .gst))]).last?.grade
        == .fault)
    #expect(receiver(connected + [fix(accuracy: nil)]).last?.text.contains("without an accuracy") == true)
    #expect(receiver(connected + [fix(accuracy: 15.1)]).last?.grade == .fault)
    #expect(receiver(connected + [fix(accuracy: 15)]).last?.grade == .good)
  }

  @Test("when gpsd has no receiver, then the advice depends on what its own configuration names")
  func namedReceivers() throws {
    let folder = try TemporaryFolder()
    func advice(_ line: String) throws -> String? {
      var heard = ReceiverExamination.Heard()
      heard.hear(.status(.connected(release: "3.22")))
      heard.named = ReceiverExamination.named(in: try folder.write("# gpsd\n\(line)\nUSBAUTO=\"true\"\n", to: "gpsd"))
      return ReceiverExamination.findings(heard, ProbeConfiguration()).last?.advice
    }
    #expect(try advice("DEVICES=\"\"")?.hasPrefix("name it in /etc/default/gpsd") == true)
    #expect(try advice("DEVICES=\"/dev/null\"")?.contains("names /dev/null: systemctl restart gpsd") == true)
    #expect(try advice("DEVICES='/dev/ttyX9'")?.contains("names /dev/ttyX9, which does not exist") == true)
    #expect(ReceiverExamination.named(in: folder.file("none")).isEmpty)
  }

  @Test("when gpsd complains, or the receiver's time differs, then the finding is a warning")
  func warnings() {
    let more: [PositioningEvent] = [
      fix(accuracy: 4), .status(.complaint("bad\u{1b}")), .status(.clockDifference(.seconds(-4))),
    ]
    let findings = receiver(connected + more)
    #expect(findings.map(\.grade) == [.good, .warning, .good, .warning])
    #expect(findings[1].text == "gpsd says: bad ")
    #expect(
      receiver(connected + [fix(accuracy: 4), .status(.clockDifference(.seconds(2)))]).map(\.grade) == [.good, .good])
  }

  // MARK: Server

  private func server(_ change: (inout ServerExamination.Answers) -> Void) -> [Finding] {
    var answers = ServerExamination.Answers()
    answers.registration = .success(.milliseconds(20))
    change(&answers)
    return ServerExamination.findings(answers, ProbeConfiguration())
  }

  @Test(
    "when the host's clock is behind or ahead of the server's, then the line says which",
    arguments: [(2.9, nil), (-2.9, nil), (60, "60 s behind"), (-60, "60 s ahead of")] as [(Double, String?)])
  func serverClock(_ seconds: Double, _ words: String?) {
    let findings = server { $0.clockDifference = .seconds(seconds) }
    #expect(findings.last?.grade == (words == nil ? .good : .warning))
    if let words { #expect(findings.last?.text == "the host's clock is \(words) the control server's") }
  }

  @Test("when a request fails, then its reason is a fault with a remedy")
  func serverFailures() {
    let failures: [ServerFailure] = [
      .unreachable("a"), .noAnswer("a"), .tooManyRequests(retryAfter: nil), .refused(status: 400, message: "a"),
      .serverTrouble(status: 500, message: "a"), .notTheServer(status: 200, found: "a"), .unusableAnswer("a"),
    ]
    for failure in failures {
      let found = server { $0.registration = .failure(failure) }
      #expect(found.map(\.grade) == [.fault] && found[0].advice != nil && found[0].text == "\(failure)")
      let tests = [ServerExamination.Test(link: settings(name: "A"), answer: .failure(failure))]
      let refused = server { $0.tests = tests }
      #expect(refused.map(\.grade) == [.good, .fault] && refused[1].text.hasPrefix("link A: no test: "))
    }
    let distrusted = server { $0.registration = .failure(.unreachable("its certificate", mayHaveNetwork: true)) }
    #expect(distrusted[0].advice?.contains("control-server.ca-file") == true)
    #expect(server { $0.trouble = "no such file" }.map(\.text) == ["no such file"])
    #expect(server { $0.registration = nil }.isEmpty, "without a URL, the configuration has the fault")
  }

  @Test("when there is no control server's URL, then no request is sent")
  func noURL() async {
    let device = Device(
      model: "m", device: "d", osVersion: "o", language: "en", timezone: "UTC", softwareVersion: "1",
      softwareVersionCode: 1,
      softwareRevision: "r")
    let answers = await ServerExamination.ask(
      ProbeConfiguration(), device, by: [settings()], gate: { _ in nil }
    ) { .sampleStart }
    #expect(answers.registration == nil && answers.trouble == nil && answers.tests.isEmpty)
  }

  // MARK: Pings

  private func event(_ kind: PingEvent.Kind, stamp: PingEvent.Stamp = .kernel) -> PingEvent {
    PingEvent(
      target: 1, kind: kind, number: 0, sequence: 0, slot: 0, sent: 0, occurred: 0, sendStamp: stamp,
      receiveStamp: stamp)
  }

  private func pings(_ events: [PingEvent], trouble: String? = nil) -> [Finding] {
    var pings = PingExamination.Pings(server: "host, port 1", trouble: trouble)
    for event in events { pings.hear(event, unsent: nil) }
    return PingExamination.findings(pings, link: "A")
  }

  @Test("when all pings are answered, then a line has the median, and another whether the kernel stamped them")
  func answered() {
    let answers = (1...10).map { event(.answered(rttNanoseconds: $0 * 10_000_000)) }
    let found = pings(answers)
    #expect(found.map(\.grade) == [.good, .good])
    #expect(found[0].text == "link A: pings to host, port 1: 10 of 10 answered, median 50.0 ms")
    let unstamped = pings(answers.dropLast() + [event(.answered(rttNanoseconds: 1), stamp: .clock)])
    #expect(unstamped.map(\.grade) == [.good, .note] && unstamped[1].text.contains("9 of 10"))
  }

  @Test("when some pings are lost, then the finding is a warning; all lost, refused or not sent, a fault")
  func unanswered() {
    let lost = [PingEvent](repeating: event(.lost(.unknown)), count: 9)
    #expect(pings(lost + [event(.answered(rttNanoseconds: 1))]).map(\.grade) == [.warning, .good])
    #expect(pings(lost + [event(.icmpError(type: 3, code: 3))]).map(\.grade) == [.fault])
    #expect(pings([event(.refused(rttNanoseconds: 1)), event(.answered(rttNanoseconds: 1))])[0].text.contains("token"))
    #expect(
      pings([event(.notSent(SendFailure(code: ENETUNREACH)))])[0].text.hasSuffix(
        "are not sent: there is no route (Network is unreachable)"))
    #expect(pings([event(.notSent(SendFailure(code: EPERM)))])[0].advice?.contains("nft list ruleset") == true)
    #expect(pings(lost + [event(.elsewhere)]).count == 1)
    #expect(pings([], trouble: "bad\nname").map(\.text) == ["link A: no ping to host, port 1: bad name"])
  }

  // MARK: Configuration

  @Test("when two settings are wrong and no server is set, then each is a fault")
  func configuration() {
    let environment = ["COVERAGE_PROBE_GPSD_PORT": "0", "COVERAGE_PROBE_DRIVE_LOG": "yes"]
    let reading = ConfigurationReading(file: nil, environment: environment)
    #expect(ConfigurationExamination.findings(reading).map(\.grade) == [.fault, .fault, .fault])
    let good = ConfigurationReading(file: nil, environment: ["COVERAGE_PROBE_CONTROL_SERVER_URL": "http://a/b"])
    #expect(ConfigurationExamination.findings(good).map(\.grade) == [.good])
  }

  @Test("when the configuration cannot be read, then the finding is a fault with file and reason in one line")
  func unreadableConfiguration() throws {
    let folder = try TemporaryFolder()
    for (text, reason) in [("gpsd: [", "is not YAML"), ("- a\n", "expected keys and values at the top")] {
      let file = try folder.write(text, to: "probe.yaml")
      let found = ConfigurationExamination.findings(ConfigurationReading(file: file, environment: [:]))
      let fault = try #require(found.first)
      #expect(fault.grade == .fault && fault.text.contains(file) && fault.text.contains(reason), "\(fault)")
      #expect(!fault.text.contains("\n"))
    }
  }

  @Test("when the file may not be read, then nothing is said of its settings, which are unknown")
  func forbiddenConfiguration() throws {
    let folder = try TemporaryFolder()
    let found = ConfigurationExamination.findings(ConfigurationReading(file: folder.file("none"), environment: [:]))
    #expect(found.map(\.grade) == [.fault] && found[0].text.contains(folder.file("none")))
    #expect(found[0].advice?.contains("a user who may read the file") == true)
  }

  @Test("when no server is set, then the advice names the file and the variable that can set it")
  func configurationAdvice() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("gpsd: { port: 2947 }\n", to: "probe.yaml")
    let reading = ConfigurationReading(file: file, environment: [:])
    let fault = try #require(ConfigurationExamination.findings(reading).last)
    #expect(fault.grade == .fault && fault.advice?.contains(file) == true, "\(fault)")
    #expect(fault.advice?.contains("COVERAGE_PROBE_CONTROL_SERVER_URL") == true)
  }

  @Test("when no link is named, then a drive has one, with the interface and the sources of the whole file")
  func onlyLink() {
    var configuration = ProbeConfiguration()
    configuration.pings.interface = "wwan0"
    configuration.network = .fixed(.cellular)
    #expect(
      configuration.driveLinks == [
        LinkSettings(name: nil, interface: "wwan0", network: .fixed(.cellular), radio: configuration.radio)
      ])
    configuration.links = [LinkSettings(name: "A", interface: "lo", network: .auto, radio: .none)]
    #expect(configuration.driveLinks.map(\.interface) == ["lo"], "the general interface is no extra link")
  }

  // MARK: Links

  private func settings(
    _ network: PathSource = .auto, interface: String? = nil, radio: RadioSource = .none, name: String? = nil
  ) -> LinkSettings {
    LinkSettings(name: name, interface: interface, network: network, radio: radio)
  }

  @Test("when the kernel shows a link that a drive does not measure, then it is a fault with the drive's own words")
  func linkKinds() {
    func finding(_ kind: Link.Kind, isRunning: Bool = true) -> Finding? {
      let link = Link(interface: "x0", kind: kind, isRunning: isRunning)
      return LinkExamination(settings(), reading: PathReading(link: link)).findings.first
    }
    #expect(finding(.modem)?.grade == .good && finding(.loopback)?.grade == .good)
    let cable = finding(.ethernet)
    #expect(cable?.grade == .fault && cable?.text == "on x0, an Ethernet link, not measuring")
    #expect(cable?.advice?.contains("network.source: fixed-cellular if this link is a modem's") == true)
    #expect(finding(.wifi)?.grade == .fault)
    #expect(finding(.modem, isRunning: false)?.text.contains("x0 has no carrier") == true)
  }

  @Test(
    "when a link of this host is examined, then only a route by it makes it good",
    arguments: [
      ("lo", "127.0.0.1", Finding.Grade.good, "cellular, the route leaves by lo, this host itself"),
      ("nix0", "127.0.0.1", .fault, "there is no interface nix0"),
      ("../lo", "127.0.0.1", .fault, "there is no interface ../lo"),
    ])
  func realLinks(_ interface: String, _ destination: String, _ grade: Finding.Grade, _ words: String) {
    let examined = LinkExamination(settings(interface: interface, name: "A"), destination: destination)
    #expect(examined.findings.first?.grade == grade && examined.isMeasured == (grade == .good))
    #expect(examined.findings.first?.text.hasPrefix("link A: ") == true)
    #expect(examined.findings.first?.text.contains(words) == true, "\(examined.findings)")
    #expect(grade == .good || examined.findings.first?.advice != nil)
  }

  @Test("when a link's file cannot be read, or says Wi-Fi, then the finding is a fault: no ping would be sent")
  func declaredByFile() throws {
    let folder = try TemporaryFolder()
    let missing = LinkExamination(settings(.file(folder.file("nothing"))), destination: "127.0.0.1")
    #expect(missing.findings.first?.grade == .warning && missing.isMeasured, "there is a route: a drive pings")
    #expect(missing.findings[0].text.contains(folder.file("nothing")))
    #expect(missing.findings[0].advice?.contains("cellular, wifi or none") == true)
    let file = try folder.write("wifi\n", to: "there")
    #expect(!LinkExamination(settings(.file(file)), destination: "127.0.0.1").isMeasured)
    _ = try folder.write("cellular\n", to: "there")
    #expect(LinkExamination(settings(.file(file)), destination: "127.0.0.1").isMeasured)
  }

  @Test("when a program reports the technology, then it is good; one that cannot be run or is silent is a warning")
  func programs() async throws {
    let folder = try TemporaryFolder()
    func modem(_ text: String, mode: mode_t = 0o700) async throws -> [Finding] {
      let program = try folder.write("#!/bin/sh\n\(text)\n", to: "radio")
      chmod(program, mode)
      let link = settings(interface: "lo", radio: .command(program))
      return await LinkExamination(link, destination: "127.0.0.1").listened().findings
    }
    let good = try await modem("echo 4G/LTE; exec sleep 20")
    #expect(good.map(\.grade) == [.good, .good] && good[1].text == "the technology is 4G/LTE")
    for (text, mode, words) in [
      ("", 0o600, "Permission denied"), ("exit 3", 0o700, "ended"), ("echo 9G; exec sleep 20", 0o700, "9G"),
    ] as [(String, mode_t, String)] {
      let found = try await modem(text, mode: mode)
      #expect(found.map(\.grade) == [.good, .warning] && found[1].text.contains(words), "\(found)")
      #expect(found[1].text.hasSuffix("the technology stays unknown") && found[1].advice != nil)
    }
  }

  @Test("when no source of the technology is set, then a note says so; without ModemManager, auto is a note as well")
  func noTechnology() {
    let link = Link(interface: "wwan0", kind: .modem)
    func last(_ radio: RadioSource, _ modem: LinkExamination.Modem) -> Finding? {
      LinkExamination(settings(radio: radio), reading: PathReading(link: link), modem: modem).findings.last
    }
    #expect(last(.none, .notAsked)?.grade == .note)
    #expect(last(.auto, .unknown(reason: "a"))?.grade == .note)
    #expect(last(.modemManager, .unknown(reason: "a"))?.grade == .warning)
    #expect(last(.fixed(Technology("4G/LTE")), .technology(Technology("4G/LTE")))?.grade == .good)
  }

  @Test("when a finding is JSON, then it has its subject, grade and text, and its advice if any")
  func json() {
    #expect(
      Finding(.note, .host, "a", advice: "b").json.text
        == #"{"subject":"host","grade":"note","text":"a","advice":"b"}"#)
    #expect(Finding(.good, .pings, "a").json.text == #"{"subject":"pings","grade":"good","text":"a"}"#)
  }
}
