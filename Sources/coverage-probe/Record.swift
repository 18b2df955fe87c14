import Agent
import ArgumentParser
import Coverage
import Foundation

struct Record: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Records one drive in the foreground and submits it at its end.",
    discussion: """
      SIGINT, SIGTERM or the end of the terminal (SIGHUP) ends the drive; a second one gives up submitting, and the drive \
      is kept. With --capture, `coverage-probe verify` compares the drive log with the packets afterwards.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, help: "End the drive after this time: 250ms, 10s, 5m, 4h or 7d.")
  var duration: String?

  @Flag(name: .long, help: "Keep the drive; submit it later with `coverage-probe submit`.")
  var noSubmit = false

  @OptionGroup var captureOptions: CaptureOptions

  mutating func validate() throws {
    guard let duration else { return }
    guard let parsed = DurationText.duration(duration), parsed > .zero else {
      throw ValidationError("--duration is \"\(duration)\": expected a duration such as 250ms, 10s, 5m, 4h or 7d.")
    }
  }

  func run() async throws {
    try await Terminal.run {
      let stop = await Terminal.stopAndHangUpSignals()
      let logger = Terminal.logger()
      let recording = Recording(
        configuration: try await configuration.load(), maximumDuration: duration.flatMap(DurationText.duration),
        submits: !noSubmit, capture: captureOptions.settings, logger: logger)
      return try await recording.run(
        stop: stop,
        onStatus: { links in
          if Terminal.errorsAreWatched {
            Terminal.write("\r\u{1B}[K\(DriveStatus.line(links))", to: .standardError)
          } else if let elapsed = links.first?.elapsed, elapsed.components.seconds % 10 == 0 {
            logger.info("\(DriveStatus.line(links))")
          }
        },
        print: { line in
          if Terminal.errorsAreWatched { Terminal.write("\r\u{1B}[K", to: .standardError) }
          Terminal.result(line)
        })
    }
  }
}
