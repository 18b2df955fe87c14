import ArgumentParser
import Service

struct Page: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the link that opens the service's live page.",
    discussion: """
      The page is where agent.page says. Whoever has the link sees positions and gives commands. Exit status: 1 when agent.page is not set, or \
      its token cannot be read.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "Make another token: old links and cookies stop working at once.")
  var renew = false

  func run() async throws {
    try await Terminal.run {
      for line in try PageLink.lines(try configuration.load(), renew: renew) { Terminal.result(line) }
      return .done
    }
  }
}
