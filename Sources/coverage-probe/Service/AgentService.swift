import ArgumentParser
import Coverage
import Service
import Settings

struct AgentService: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "The service: records when wanted, submits stored sessions, answers status and commands.",
    discussion: """
      SIGTERM and SIGINT end it in order within 5 s; unsent sessions are sent after the next start. SIGHUP makes it read the \
      configuration again; the log says which keys apply at once, with the next drive, or after a restart. SIGQUIT \
      prints the same as `status`. Exit status: 78 for a mistake in the configuration, which a restart does not remove.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  func run() async throws {
    try await Terminal.run {
      let stop = await Terminal.stopSignals()
      let hangUp = await Terminal.hangUpSignals()
      do {
        return try await Serving.run(
          configurationFile: configuration.file, logger: Terminal.logger(), stop: stop, hangUp: hangUp,
          interim: await Terminal.interimSignals(), note: Terminal.note)
      } catch let error as ConfigurationError {
        // A worn card can refuse to read once: the service manager tries again.
        if case .unreadable = error { throw error }
        Terminal.note("\(Program.name): \(error)", .error)
        // EX_CONFIG of sysexits.h
        throw ExitCode(78)
      }
    }
  }
}
