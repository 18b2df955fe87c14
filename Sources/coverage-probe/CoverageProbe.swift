import ArgumentParser
import Coverage
import Service

/// The root of all commands.
struct CoverageProbe: AsyncParsableCommand {
  /// Errors of usage have the same form as all other errors.
  static let _errorLabel = Program.name

  static let configuration = CommandConfiguration(
    commandName: "coverage-probe",
    abstract: "Measures mobile network coverage along a drive and submits it to an RTR-Netztest compatible server.",
    discussion: """
      Results go to standard output, logs and progress to standard error.
      Exit status: 0 done; 1 failed, with the reason in one line; 64 wrong usage; 69 no ping was sent; 75 stored, but not submitted now.
      """,
    version: Program.version,
    groupedSubcommands: [
      .init(
        name: "Drives", subcommands: [Record.self, Submit.self, Sessions.self, ExportFences.self, ReportCommand.self]),
      .init(
        name: "The service",
        subcommands: [AgentService.self, Status.self, Start.self, Stop.self, Pause.self, Resume.self, Page.self]),
      .init(
        name: "Measuring and proof",
        subcommands: [Ping.self, SpeedTestCommand.self, LoopCommand.self, Replay.self, Verify.self]),
      .init(name: "Setting up", subcommands: [DoctorCommand.self, Config.self]),
    ])
}
