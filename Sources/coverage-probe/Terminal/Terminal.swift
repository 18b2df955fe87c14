import ArgumentParser
import Coverage
import Foundation
import Logging
import Service
import Store
import Synchronization
import UnixSignals

/// Standard output and standard error of the commands.
enum Terminal {
  /// The most characters of one message; a server or a file can name anything.
  static let longestLine = 2000

  static func result(_ line: String) {
    guard let code = write(line + "\n", to: STDOUT_FILENO) else { return }
    if code == EPIPE {
      // The reader has read enough, as with `| head`: an ordinary end.
      readerHasGone.withLock { $0() }
    } else {
      lostOutput.withLock { $0 = $0 ?? OutputError(path: "standard output", code: code) }
    }
  }

  /// Writes a line for the operator. A failure cannot be reported anywhere, so it is ignored.
  static func note(_ line: String) { note(line, .info) }

  /// Writes a line for the operator, with its priority where the journal reads it.
  static func note(_ line: String, _ level: Logger.Level) {
    guard Journal.isReader else { return LiveArea.write(above: line + "\n") }
    _ = write(Journal.prefix(of: level) + line + "\n", to: STDERR_FILENO)
  }

  static func complain(_ error: any Error) {
    // Reason and remedy in words, also where the error is SQLite's.
    let line = StoreError.line(error, subject: "cannot use the store: ")
    note("\(Program.name): \(ForeignText.clean(line, limit: longestLine))", .error)
  }

  /// - Returns: The value of errno(3) when the write failed.
  static func write(_ text: String, to descriptor: CInt) -> CInt? {
    DescriptorOutput.write(Array(text.utf8), to: descriptor) ? nil : errno
  }

  /// Why a line of the result could not be written; the first failure.
  private static let lostOutput = Mutex<OutputError?>(nil)

  /// Called when the reader of standard output has gone.
  private static let readerHasGone = Mutex<@Sendable () -> Void>({})

  /// Runs a command to its exit status. An error becomes one line on standard error, and status 1.
  static func run(_ command: () async throws -> CommandOutcome) async throws {
    let outcome: CommandOutcome
    do {
      outcome = try await command()
    } catch let exit as ExitCode {
      throw exit
    } catch let wrongUsage as ValidationError {
      throw wrongUsage
    } catch let output as OutputError where output.isReaderGone {
      outcome = .done
    } catch {
      complain(error)
      throw ExitCode(CommandOutcome.failed.rawValue)
    }
    if let lost = lostOutput.withLock({ $0 }) {
      note("\(Program.name): \(lost)", .error)
      throw ExitCode(CommandOutcome.failed.rawValue)
    }
    if outcome != .done { throw ExitCode(outcome.rawValue) }
  }

  /// Yields as ``stopSignals()``, and when the reader of standard output has gone: for a command without any other
  /// result.
  static func stopSignalsOrLostReader() async -> AsyncStream<Void> {
    let (stream, continuation) = await trapped([.sigint, .sigterm])
    readerHasGone.withLock { $0 = { continuation.yield() } }
    return stream
  }

  /// Yields at each SIGINT and SIGTERM; after this call they no longer end the process.
  static func stopSignals() async -> AsyncStream<Void> { await signals([.sigint, .sigterm]) }

  /// Yields as ``stopSignals()``, and at each SIGHUP, which means that the terminal has gone. SIGHUP is left ignored
  /// if the parent process ignored it, as nohup(1) does.
  static func stopAndHangUpSignals() async -> AsyncStream<Void> {
    var inherited = sigaction()
    sigaction(SIGHUP, nil, &inherited)
    let isIgnored = unsafeBitCast(inherited.__sigaction_handler.sa_handler, to: Int.self) == 1
    return await signals([.sigint, .sigterm] + (isIgnored ? [] : [.sighup]))
  }

  /// Yields at each SIGQUIT; after this call it no longer ends the process.
  static func interimSignals() async -> AsyncStream<Void> { await signals([.sigquit]) }

  static func sizeSignals() async -> AsyncStream<Void> { await signals([.sigwinch]) }

  /// Runs `body`; each SIGQUIT meanwhile writes `status` to standard error.
  static func answeringQuit<Result>(
    _ status: @escaping @Sendable () async -> String, _ body: () async throws -> Result
  ) async throws -> Result {
    let asked = await interimSignals()
    let answering = Task { for await _ in asked { note(await status()) } }
    defer { answering.cancel() }
    return try await body()
  }

  static func hangUpSignals() async -> AsyncStream<Void> { await signals([.sighup]) }

  private static func signals(_ signals: [UnixSignal]) async -> AsyncStream<Void> { await trapped(signals).stream }

  private static func trapped(
    _ signals: [UnixSignal]
  ) async -> (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation) {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let trapped = await UnixSignalsSequence(trapping: signals)
    let listening = Task { for await _ in trapped { continuation.yield() } }
    continuation.onTermination = { _ in listening.cancel() }
    return (stream, continuation)
  }
}
