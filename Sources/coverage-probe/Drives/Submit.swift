import ArgumentParser
import Service

struct Submit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Submits the stored sessions.")

  @OptionGroup var configuration: ConfigurationOptions

  @Flag(name: .long, help: "Skip sessions that an earlier run left unfinished.")
  var warm = false

  @Flag(name: .long, help: "Also send quarantined sessions, unless the server may have them.")
  var quarantined = false

  @Flag(
    name: .long,
    help: "Try now, even if the server has asked for fewer requests; with --quarantined also what the server may have.")
  var force = false

  mutating func validate() throws {
    if warm, quarantined { throw ValidationError("--warm and --quarantined exclude each other.") }
  }

  func run() async throws {
    try await Terminal.run {
      let stop = await Terminal.stopSignals()
      let submitting = Submitting(
        configuration: try configuration.load(), isWarm: warm, includesQuarantined: quarantined,
        isForced: force, logger: Terminal.logger())
      let began = ContinuousClock.now
      let progress = WorkProgress("submit")
      defer { progress.clear() }
      return try await Terminal.answeringQuit({ "submitting for \((ContinuousClock.now - began).components.seconds) s" }
      ) {
        let outcome = try await submitting.run(
          stop: stop, progress: { noun, done, total in progress.show(done, of: noun) { total } },
          print: { line in
            progress.clear()
            Terminal.result(line)
          })
        progress.end()
        return outcome
      }
    }
  }
}
