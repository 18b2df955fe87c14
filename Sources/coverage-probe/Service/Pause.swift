import ArgumentParser
import Service

struct Pause: ServiceOrder {
  static let order = ServiceCommand.pause
  static let configuration = CommandConfiguration(
    abstract: "Ends the service's drive; `resume` restores the state before.")
  @OptionGroup var configuration: ConfigurationOptions
}
