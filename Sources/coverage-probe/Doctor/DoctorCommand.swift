import ArgumentParser
import Coverage
import Driving
import Foundation
import OrderedJSON
import Service
import Settings
import Submission

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Examines this host: can a drive be recorded now, and if not, what to do.",
    discussion: """
      It looks at the configuration, the clock, the state directory, the interfaces, gpsd, the control server and the pings of a test, which \
      it requests and does not use further; or the pings to `pings.target`. It takes up to 20 s. Exit status: 0 when a drive can be recorded now, otherwise 1.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(
    name: .long,
    help: "As a JSON object: ready, and findings with subject, grade (good, note, warning, fault), text, advice.")
  var json = false

  func run() async throws {
    try await Terminal.run {
      let doctor = Doctor(
        reading: ConfigurationReading(file: configuration.file), device: .thisHost, wall: { .current }, clock: .host)
      return await doctor.report(asJSON: json, print: Terminal.result)
    }
  }
}

extension Doctor {
  /// Prints each finding as soon as it is known, or all of them as one JSON object.
  /// - Returns: `failed` when a drive cannot be recorded now.
  func report(asJSON: Bool, print: (String) -> Void) async -> CommandOutcome {
    var findings: [Finding] = []
    await run { finding in
      findings.append(finding)
      if !asJSON { Self.lines(finding).forEach(print) }
    }
    let faults = findings.count { $0.grade == .fault }
    if asJSON {
      print(JSON.object(["ready": .bool(faults == 0), "findings": .array(findings.map(\.json))]).text)
    } else {
      print(faults == 0 ? "a drive can be recorded" : "no drive can be recorded: \(counted(faults, "fault"))")
    }
    return faults == 0 ? .done : .failed
  }

  /// The finding in a line with grade and subject in columns, and its advice in a second one.
  static func lines(_ finding: Finding) -> [String] {
    func padded(_ text: String, _ width: Int) -> String { text.padding(toLength: width, withPad: " ", startingAt: 0) }
    let head = padded(finding.grade.rawValue, 8) + padded(finding.subject.rawValue, 14)
    let text = ForeignText.clean(finding.text, limit: longest)
    return [head + text]
      + (finding.advice.map { [padded("", 22) + "-> " + ForeignText.clean($0, limit: longest)] } ?? [])
  }

  /// The most characters of a text: a reason from outside can be long.
  private static let longest = 1000
}
