import ArgumentParser
import Foundation
import Service

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the state of the service.",
    discussion: """
      Exit status: 0 when the service answers, 1 when there is none.
      --watch shows the state each second until SIGINT: as a panel on a terminal, else as a line a second. NO_COLOR turns colours off.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "As one JSON object.")
  var json = false

  @Flag(name: .long, help: "As metrics in the Prometheus text format.")
  var metrics = false

  @Flag(name: .long, help: "Again each second; with --json a JSON object a line.")
  var watch = false

  mutating func validate() throws {
    if json, metrics { throw ValidationError("--json and --metrics exclude each other.") }
    if watch, metrics { throw ValidationError("--watch and --metrics exclude each other.") }
  }

  func run() async throws {
    try await Terminal.run {
      let client = ServiceClient(configuration: try configuration.load())
      if watch {
        try await follow(client)
      } else {
        Terminal.result(
          metrics ? try await client.metrics() : try await client.statusWithPortHolders(asJSON: json))
      }
      return .done
    }
  }

  // MARK: Watching

  /// - Throws: ``ServiceUnreachable`` when no service answers at first; later it is waited for.
  private func follow(_ client: ServiceClient) async throws {
    let stop = await Terminal.stopSignalsOrLostReader()
    try await show(client.status(asJSON: true))
    let watching = Task { [sizes = await Terminal.sizeSignals()] in
      async let following: Void = LiveArea.follow(sizes)
      while (try? await Task.sleep(for: .seconds(1))) != nil {
        do {
          try await show(client.status(asJSON: true))
        } catch {
          show(trouble: error)
        }
      }
      await following
    }
    for await _ in stop { break }
    watching.cancel()
    await watching.value
    LiveArea.end()
  }

  /// One for the process: it has the delays of the seconds before.
  private static let panel = LivePanel()

  private var isPanel: Bool { !json && LiveArea.isPossible && isatty(STDOUT_FILENO) == 1 }

  private func show(_ status: String) throws {
    if json { return Terminal.result(status) }
    let state = try PanelState(service: status)
    if isPanel {
      Self.panel.show(state)
    } else {
      Terminal.result(Panel.line(state))
    }
  }

  /// The service may come back: the last state is not shown any more, and the next answer replaces this line.
  private func show(trouble: any Error) {
    var state = PanelState()
    state.activity = "no answer"
    state.warnings = ["\(trouble)"]
    if isPanel { Self.panel.show(state) } else { Terminal.note("\(trouble)") }
  }
}
