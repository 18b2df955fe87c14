import ArgumentParser
import Service

struct Resume: ServiceOrder {
  static let order = ServiceCommand.resume
  static let configuration = CommandConfiguration(
    abstract: "Ends a `pause` or a `stop`: agent.record applies again.")
  @OptionGroup var configuration: ConfigurationOptions
}
