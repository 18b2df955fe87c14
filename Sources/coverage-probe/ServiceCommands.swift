import Agent
import ArgumentParser
import Settings

struct AgentService: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "The service: records when wanted, submits stored sessions, answers status and commands.",
    discussion: """
      SIGTERM and SIGINT end it in order within 5 s; unsent sessions are sent after the next start. SIGHUP makes it read the \
      configuration again; the log says which keys apply at once, with the next drive, or after a restart. SIGQUIT \
      prints the same as `status`.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  func run() async throws {
    try await Terminal.run {
      let stop = await Terminal.stopSignals()
      let hangUp = await Terminal.hangUpSignals()
      let serving = Serving(configurationFile: configuration.config, logger: Terminal.logger())
      return try await serving.run(
        stop: stop, hangUp: hangUp, interim: await Terminal.interimSignals(), note: Terminal.note)
    }
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the state of the service.",
    discussion: "Exit status: 0 when the service answers, 1 when there is none.")

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As one JSON object.")
  var json = false

  @Flag(name: .long, help: "As metrics in the Prometheus text format.")
  var metrics = false

  mutating func validate() throws {
    if json, metrics { throw ValidationError("--json and --metrics exclude each other.") }
  }

  func run() async throws {
    try await Terminal.run {
      let client = ServiceClient(configuration: try configuration.load())
      Terminal.result(metrics ? try await client.metrics() : try await client.status(asJSON: json))
      return .done
    }
  }
}

/// A command that consists of one word to the service.
protocol ServiceOrder: AsyncParsableCommand {
  static var order: ServiceCommand { get }
  var configuration: ConfigurationOptions { get }
}

extension ServiceOrder {
  func run() async throws {
    try await Terminal.run {
      Terminal.result(try await ServiceClient(configuration: try configuration.load()).send(Self.order))
      return .done
    }
  }
}

struct Start: ServiceOrder {
  static let order = ServiceCommand.start
  static let configuration = CommandConfiguration(
    abstract: "Makes the service record until `stop`, regardless of agent.record.")
  @OptionGroup var configuration: ConfigurationOptions
}

struct Stop: ServiceOrder {
  static let order = ServiceCommand.stop
  static let configuration = CommandConfiguration(
    abstract: "Ends the service's drive; the next one begins with `start` or `resume`.")
  @OptionGroup var configuration: ConfigurationOptions
}

struct Pause: ServiceOrder {
  static let order = ServiceCommand.pause
  static let configuration = CommandConfiguration(
    abstract: "Ends the service's drive; `resume` restores the state before.")
  @OptionGroup var configuration: ConfigurationOptions
}

struct Resume: ServiceOrder {
  static let order = ServiceCommand.resume
  static let configuration = CommandConfiguration(
    abstract: "Ends a `pause` or a `stop`: agent.record applies again.")
  @OptionGroup var configuration: ConfigurationOptions
}
