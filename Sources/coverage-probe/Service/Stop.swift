import ArgumentParser
import Service

struct Stop: ServiceOrder {
  static let order = ServiceCommand.stop
  static let configuration = CommandConfiguration(
    abstract: "Ends the service's drive; the next one begins with `start` or `resume`.")
  @OptionGroup var configuration: ConfigurationOptions
}
