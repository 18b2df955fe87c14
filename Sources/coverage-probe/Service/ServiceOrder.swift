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
