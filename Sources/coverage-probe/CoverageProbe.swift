import ArgumentParser
import Coverage
import Foundation

struct CoverageProbe: AsyncParsableCommand {
  /// Errors of usage have the same form as all other errors.
  static let _errorLabel = Program.name

  static let configuration = CommandConfiguration(
    commandName: "coverage-probe",
    abstract: "Measures mobile network coverage along a drive and submits it to an RTR-Netztest compatible server.",
    discussion: """
      Results go to standard output, logs and progress to standard error.
      Exit status: 0 done; 1 failed, with the reason in one line; 64 wrong usage; 66 report --verify could not read its
      input; 69 no ping was sent; 75 stored, but not submitted now; 78 a mistake in the configuration (agent).
      """,
    version: Program.version,
    groupedSubcommands: [
      .init(name: "Prepare this device", subcommands: [DoctorCommand.self, Config.self]),
      .init(name: "Measure along a drive", subcommands: [Record.self, LoopCommand.self]),
      .init(
        name: "Let the service measure",
        subcommands: [AgentService.self, Status.self, Start.self, Stop.self, Pause.self, Resume.self, Page.self]),
      .init(name: "Measure at one place", subcommands: [Ping.self, SpeedTestCommand.self]),
      .init(name: "Look after what is stored", subcommands: [Sessions.self, Submit.self]),
      .init(name: "Use the results", subcommands: [ExportFences.self, ReportCommand.self]),
      .init(name: "Prove a result", subcommands: [Show.self, Replay.self, Verify.self]),
    ])
}

/// Makes the state that a process inherits safe, before anything else happens.
enum ProcessSetup {
  static func prepare() {
    openStandardStreams()
    // libdispatch asks for a higher priority for some threads, which only root gets, and writes a line to the journal for each refusal. It
    // reads the variable before its first line.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    // A lost reader is an error of the write, and must not end a drive. A handler instead of SIG_IGN: child processes
    // get the default action again.
    signal(SIGPIPE) { _ in }
    // Swift's runtime would handle SIGQUIT as a crash and print a dump.
    signal(SIGQUIT, SIG_DFL)
  }

  /// Opens closed standard streams (`>&-`): the next file opened would get the free descriptor, and results would be
  /// written into the store.
  private static func openStandardStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
      let null = open("/dev/null", O_RDWR)
      if null >= 0, null != descriptor {
        dup2(null, descriptor)
        close(null)
      }
    }
  }
}
