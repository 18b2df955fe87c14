import Agent
import ArgumentParser
import Foundation
import Logging
import Synchronization
import UnixSignals

/// Standard output and standard error as the commands use them.
enum Terminal {
  /// Writes a line of the result.
  static func result(_ line: String) { write(line + "\n", to: .standardOutput) }

  /// Writes a line for the person who watches.
  static func note(_ line: String) { write(line + "\n", to: .standardError) }

  static func write(_ text: String, to handle: FileHandle) {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      // A reader that has gone away (`| head`) is no error of ours, and there is nobody left to tell.
      let cause = posixError(error)
      guard handle === FileHandle.standardOutput, cause != EPIPE else { return }
      lostOutput.withLock { $0 = $0 ?? cause.map { String(cString: strerror($0)) } ?? error.localizedDescription }
    }
  }

  /// Why a line of the result could not be written, the first time.
  private static let lostOutput = Mutex<String?>(nil)

  private static func posixError(_ error: any Error) -> Int32? {
    let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
    return cause.domain == NSPOSIXErrorDomain ? Int32(cause.code) : nil
  }

  static let errorsAreWatched = isatty(STDERR_FILENO) == 1

  /// A logger to standard error.
  static func logger() -> Logger {
    Logger(label: Program.name) { _ in LineLogHandler() }
  }

  /// Runs a command to its exit status: any error becomes one line on standard error and status 1.
  static func run(_ command: () async throws -> CommandOutcome) async throws {
    let outcome: CommandOutcome
    do {
      outcome = try await command()
    } catch let exit as ExitCode {
      throw exit
    } catch let wrongUsage as ValidationError {
      throw wrongUsage
    } catch {
      note("\(Program.name): \(error)")
      throw ExitCode(CommandOutcome.failed.rawValue)
    }
    if let reason = lostOutput.withLock({ $0 }) {
      note("\(Program.name): standard output cannot be written: \(reason)")
      throw ExitCode(CommandOutcome.failed.rawValue)
    }
    if outcome != .done { throw ExitCode(outcome.rawValue) }
  }

  /// Yields at each SIGINT and SIGTERM; from its return on, these end nothing by themselves.
  static func stopSignals() async -> AsyncStream<Void> { await signals([.sigint, .sigterm]) }

  /// Yields as ``stopSignals()``, and at each SIGHUP: the terminal has gone, with a connection that broke perhaps. Not when
  /// whoever started this process had it ignored, as nohup(1) does.
  static func stopAndHangUpSignals() async -> AsyncStream<Void> {
    var inherited = sigaction()
    sigaction(SIGHUP, nil, &inherited)
    let isIgnored = unsafeBitCast(inherited.__sigaction_handler.sa_handler, to: Int.self) == 1
    return await signals([.sigint, .sigterm] + (isIgnored ? [] : [.sighup]))
  }

  /// Yields at each SIGQUIT.
  static func interimSignals() async -> AsyncStream<Void> { await signals([.sigquit]) }

  /// Yields at each SIGHUP.
  static func hangUpSignals() async -> AsyncStream<Void> { await signals([.sighup]) }

  private static func signals(_ signals: [UnixSignal]) async -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let trapped = await UnixSignalsSequence(trapping: signals)
    let listening = Task { for await _ in trapped { continuation.yield() } }
    continuation.onTermination = { _ in listening.cancel() }
    return stream
  }
}

/// One line a message: time, level, message.
struct LineLogHandler: LogHandler {
  var logLevel = Logger.Level.info
  var metadata = Logger.Metadata()
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let level = event.level == .info ? "" : "\(event.level): "
    let clearsLine = Terminal.errorsAreWatched ? "\r\u{1B}[K" : ""
    Terminal.write("\(clearsLine)\(Self.time()) \(level)\(event.message)\n", to: .standardError)
  }

  private static func time() -> String {
    Date.now.formatted(.iso8601.time(includingFractionalSeconds: false))
  }
}

/// `--config F`, the same for all commands.
struct ConfigurationOptions: ParsableArguments {
  @Option(name: .long, help: "The configuration, a YAML file; the environment wins over it.")
  var config: String?

  func load() async throws -> ProbeConfiguration { try await ProbeConfiguration.load(file: config) }
}
