import ArgumentParser
import Service
import Settings

struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Reads the configuration and lists every mistake in it.",
    discussion:
      "It looks at names and values only; nothing is connected to. Exit status: 0 without a mistake, otherwise 1.")

  @OptionGroup var configuration: ConfigurationOptions

  func run() async throws {
    try await Terminal.run {
      let reading = ConfigurationReading(file: configuration.file)
      for mistake in reading.mistakes { Terminal.complain(mistake) }
      guard reading.mistakes.isEmpty else { return .failed }
      Terminal.result(reading.summary)
      return .done
    }
  }
}
