import ArgumentParser
import Foundation
import UnixSignals

/// Plays a receiver's log or a track, either as gpsd's receiver or as gpsd itself.
@main
struct GPSPlayerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gps-player",
    abstract: "Plays a receiver's log or a track, into gpsd or in its place.",
    discussion: """
      It listens on loopback and prints the line `gps-player: listening on ADDRESS:PORT`. The recording starts with the
      first connection (--feed) or the first ?WATCH (--gpsd), and goes on without listeners. At the end it prints the
      number of played epochs and waits until SIGTERM or SIGINT.

        gps-player --feed --port 5000 ublox.log &  gpsd -N -S 2950 tcp://127.0.0.1:5000
        gps-player --gpsd --port 2950 demo-track.csv

      Sources:
        a receiver's log    NMEA or binary, for --feed; leading lines with # are skipped, the rest is sent unchanged
        a track, NAME.csv   seconds,latitude,longitude,speed_mps,course_deg,altitude_m,accuracy_m, a line each moment; a
                            first line may name the columns; empty values are unknown; no position: no fix
        a track, NAME.jsonl the same names as keys of an object a line
        a gpsd recording    NAME.json, a report of gpsd a line, for --gpsd

      Tracks become NMEA (GGA, GSA, RMC) for --feed, and reports (TPV, SKY) for --gpsd.
      """)

  @Flag(help: "Act as the receiver that gpsd reads from tcp://ADDRESS:PORT.") var feed = false
  @Flag(help: "Act as gpsd, with its protocol for clients.") var gpsd = false
  @Argument(help: "The file to play.") var source: String
  @Option(help: "Address to listen on.") var host = "127.0.0.1"
  @Option(help: "Port to listen on; 0: any free one.") var port = 0
  @Option(help: "Play at this number of bytes a second instead of the source's own pace. Not for tracks.") var rate:
    Double?
  @Option(help: "Play this many times as fast.") var speed = 1.0
  @Option(help: "Start at this second of the source.") var startAt = 0.0
  @Flag(help: "Begin now, not with the first listener: positions have the present time.") var live = false
  @Flag(help: "Close and exit at the end.") var exitAtEnd = false
  @Option(help: "FROM,TO: seconds in which nothing is sent. Repeatable.") var silence: [SecondsSpan] = []
  @Option(help: "Close the connections at this second; new ones are accepted. Repeatable.") var closeAt: [Double] = []
  @Option(help: "FROM,TO: seconds in which the port is closed. Repeatable.") var away: [SecondsSpan] = []
  @Option(help: "Delay gpsd's VERSION by this number of seconds (--gpsd).") var lateVersion = 0.0
  @Flag(help: "Send in fragments of one to eight bytes.") var split = false
  @Flag(help: "Mix in broken lines, an over-long one, NaN and impossible values.") var garbage = false

  func validate() throws {
    guard feed != gpsd else { throw ValidationError("Give either --feed or --gpsd.") }
    guard (0...65_535).contains(port) else { throw ValidationError("A port is 0 to 65535.") }
    guard speed >= 0.001, speed.isFinite else { throw ValidationError("--speed must be at least 0.001.") }
    guard rate.map({ $0 >= 1 && $0.isFinite }) ?? true else { throw ValidationError("--rate must be at least 1.") }
    let seconds = 0...Recording.longest
    guard seconds.contains(startAt) else { throw ValidationError("--start-at must be 0 to 1000000000 seconds.") }
    guard closeAt.allSatisfy(seconds.contains) else {
      throw ValidationError("--close-at takes 0 to 1000000000 seconds.")
    }
    guard (0...3600).contains(lateVersion), gpsd || lateVersion == 0 else {
      throw ValidationError("--late-version takes 0 to 3600 seconds, with --gpsd.")
    }
  }

  func run() async throws {
    let began = ContinuousClock.now
    let recording = try Source(path: source).recording(asReceiver: feed, rate: rate, start: .now())
    var mischief = Mischief(startAt: startAt, silence: silence, closeAt: closeAt, away: away)
    if garbage { mischief.garbage = feed ? Mischief.nmeaGarbage : Mischief.reportGarbage }
    let player = Player(
      steps: mischief.steps(of: recording), startAt: startAt, speed: speed, fragments: split, began: live ? began : nil)
    let role: Port.Role = feed ? .feed : .gpsd(recording.greeting, versionDelay: lateVersion)
    let port = Port(host: host, role: role, player: player)
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)

    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await port.serve(self.port) { Self.say("listening on \(host):\($0)") }
        return false
      }
      group.addTask {
        try await player.play()
        Self.say(await player.account)
        if exitAtEnd { await player.end(flushing: true) }
        return exitAtEnd
      }
      group.addTask {
        for await _ in signals { break }
        return true
      }
      // The port ends only with the program; the recording can end earlier.
      while let isOver = try await group.next(), !isOver {}
      await player.end(flushing: false)
      group.cancelAll()
    }
    if await !player.hasEnded { Self.say(await player.account) }
  }

  /// Prints a line for which scripts can wait.
  private static func say(_ text: String) {
    // The reader of the output can be gone; the player continues.
    try? FileHandle.standardOutput.write(contentsOf: Data("gps-player: \(text)\n".utf8))
  }
}
