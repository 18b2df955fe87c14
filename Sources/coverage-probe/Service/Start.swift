import ArgumentParser
import Service

struct Start: ServiceOrder {
  static let order = ServiceCommand.start
  static let configuration = CommandConfiguration(
    abstract: "Makes the service record until `stop`, regardless of agent.record.")
  @OptionGroup var configuration: ConfigurationOptions
}
