import ArgumentParser
import Service

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
