import ArgumentParser
import Service

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Examines this host: can a drive be recorded now, and if not, what to do.",
    discussion: """
      It looks at the configuration, the clock, the state directory, the interfaces, gpsd, the control server and the pings of a test, which \
      it requests and does not use further. It takes up to 20 s. Exit status: 0 when a drive can be recorded now, otherwise 1.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(
    name: .long,
    help: "As a JSON object: ready, and findings with subject, grade (good, note, warning, fault), text, advice.")
  var json = false

  func run() async throws {
    try await Terminal.run {
      await Diagnosing(configurationFile: configuration.file).run(asJSON: json, print: Terminal.result)
    }
  }
}
