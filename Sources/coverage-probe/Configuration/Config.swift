import ArgumentParser

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks and prints the configuration.", subcommands: [ConfigCheck.self, ConfigPrint.self])
}
