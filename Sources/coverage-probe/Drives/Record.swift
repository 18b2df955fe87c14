import ArgumentParser
import Driving
import Foundation
import Service
import Settings
import Synchronization

struct Record: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Records one drive in the foreground and submits it at its end.",
    discussion: """
      SIGINT, SIGTERM or the end of the terminal (SIGHUP) ends the drive; a second one gives up submitting, and the drive \
      stays stored. SIGQUIT (Ctrl-\\) prints its state. With --capture, `coverage-probe verify` compares the \
      drive log with the packets afterwards.
      """)

  @OptionGroup var configuration: ConfigurationOptions

  @Option(name: .long, parsing: .unconditional, help: "End the drive after this time: 250ms, 10s, 5m, 4h or 7d.")
  var duration: String?

  @Flag(name: .long, help: "Store the drive only; submit it later with `coverage-probe submit`.")
  var noSubmit = false

  @Flag(name: .customLong("loop"), help: "Repeat speed tests along the way, as the settings loop.* say.")
  var withLoop = false

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
      let latest = Latest("no drive has begun")
      let panel = LivePanel()
      let following = Task { [sizes = await Terminal.sizeSignals()] in await LiveArea.follow(sizes) }
      defer { following.cancel() }
      let recording = try Recording(
        configuration: try configuration.load(), maximumDuration: duration.flatMap(DurationText.duration),
        submits: !noSubmit, withLoop: withLoop, capture: captureOptions.settings, logger: logger)
      return try await Terminal.answeringQuit({ latest.line }) {
        try await recording.run(
          stop: stop,
          onStatus: { links in
            latest.set { DriveStatus.line(links) }
            if LiveArea.isPossible {
              panel.show(PanelState(links))
            } else if let elapsed = links.first?.elapsed, elapsed.components.seconds % 10 == 0 {
              logger.info("\(latest.line)")
            }
          },
          print: { line in
            LiveArea.end()
            latest.set { line }
            Terminal.result(line)
          })
      }
    }
  }
}

/// The present state in one line.
private final class Latest: Sendable {
  private let text: Mutex<@Sendable () -> String>

  init(_ line: String) { text = Mutex { line } }

  var line: String { text.withLock { $0 }() }

  /// - Parameter line: Composes the line; called only when the operator asks for it, which is rare.
  func set(_ line: @escaping @Sendable () -> String) { text.withLock { $0 = line } }
}
