import Coverage
import Foundation
import TestSupport
import Testing

@testable import SystemServices

/// `radio.source`: the operator's program, which may print anything and end at any time.
struct RadioMonitorTests {
  private let folder: TemporaryFolder
  private let log = LogLines()

  init() throws { folder = try TemporaryFolder() }

  /// Another process writes the script: a program that this process starts at the same time could inherit the open
  /// file, and the kernel would refuse to run the script.
  private func script(_ text: String) async throws -> RadioSource {
    let (path, content) = (folder.file("radio"), try folder.write("#!/bin/sh\n\(text)\n", to: "content"))
    let copy = try RunningProgram(URL(filePath: "/usr/bin/install"), ["-m", "755", content, path])
    #expect(try await copy.exitStatus() == 0)
    return .command(path)
  }

  /// The first `count` deliveries of a program, by name; `-` is no service.
  private func deliveries(
    _ count: Int, of source: RadioSource, restart: Duration = .milliseconds(1), patience: Duration = .seconds(600)
  ) async -> [String] {
    let (changes, continuation) = AsyncStream<RadioReading>.makeStream()
    let radio = RadioMonitor(source: source, restartDelay: restart, patience: patience, logger: log.logger)
    let running = Task {
      await radio.run { continuation.yield($0) }
      continuation.finish()
    }
    var names: [String] = []
    for await reading in changes {
      names.append(reading.technology?.name ?? "-")
      if names.count == count { break }
    }
    running.cancel()
    await running.value
    return names
  }

  @Test("when the technology is fixed or has no source, then it is delivered once or never, and the monitor ends")
  func withoutProgram() async {
    #expect(await deliveries(9, of: .fixed(Technology("5G/NR"))) == ["5G/NR"])
    #expect(await deliveries(9, of: .fixed(.none)) == ["-"], "NONE is no technology")
    #expect(await deliveries(9, of: .none).isEmpty)
  }

  @Test("when the program ends, then the technology is unknown, the log says why, and the program starts again")
  func restarts() async throws {
    let source = try await script("echo 4G/LTE; exit 3")
    #expect(await deliveries(5, of: source) == ["4G/LTE", "-", "4G/LTE", "-", "4G/LTE"])
    let line = try #require(log.messages.first)
    #expect(
      line.hasPrefix("radio.source: \(folder.file("radio")) ended (exited(3)); the technology is unknown"), "\(line)")
  }

  @Test("when the program cannot be started, then the technology is unknown, and the log names the program")
  func missing() async {
    #expect(await deliveries(2, of: .command(folder.file("gone"))) == ["-", "-"])
    #expect(log.contains("radio.source: \(folder.file("gone")) failed: "))
    #expect(log.metadata(OperatorEvent.key, ofLinesWith: "failed: ").first == "modem", "an event in the journal")
  }

  @Test("when the program prints nonsense, then the log has it and the known names, and the last technology stays")
  func nonsense() async throws {
    let source = try await script(
      #"echo 4G/LTE; echo 7G; printf '\377\376\n'; echo '4G/LTE 5G/NR'; echo none; echo 3G/HSPA+; exec sleep 60"#)
    #expect(await deliveries(3, of: source) == ["4G/LTE", "-", "3G/HSPA+"])
    #expect(log.contains(" says \"7G\", which is not a known technology; known: 2G/"))
    #expect(log.messages.count == 2, "one line, and a count: \(log.messages)")
    #expect(log.contains("unknown technologies, 2 times more"))
  }

  @Test(
    "when the program prints without end, then some readings a second are delivered, and the log has one line and a count"
  )
  func flood() async throws {
    let source = try await script("yes 4G/LTE")
    let begun = ContinuousClock.now
    #expect(await deliveries(2 * LineRate.linesPerSecond, of: source).allSatisfy { $0 == "4G/LTE" })
    #expect(ContinuousClock.now - begun >= .seconds(1))
    #expect(log.messages.count == 2, "\(log.messages)")
    #expect(log.contains("prints more than 10 lines a second; the last ones count ("))
    #expect(log.contains("prints more than 10 lines a second, "))
  }

  @Test("when the program fails each time, then the log has one line and a count")
  func failing() async throws {
    let source = try await script("exit 3")
    _ = await deliveries(20, of: source)
    #expect(log.messages.count == 2, "\(log.messages)")
    #expect(log.contains("ended (exited(3)), ") && log.contains(" times more"))
  }

  @Test("when the program prints no line end, then the log says so once, and later lines count")
  func unfinished() async throws {
    let source = try await script(
      "printf 4G/LTE; while [ ! -e \(folder.file("go")) ]; do sleep 0.01; done; echo; exit 3")
    let (log, go) = (log, folder.file("go"))
    let lets = Task {
      _ = try await eventually("the complaint") { log.messages.isEmpty ? nil : () }
      _ = FileManager.default.createFile(atPath: go, contents: nil)
    }
    let all = await deliveries(3, of: source, restart: .seconds(600), patience: .milliseconds(50))
    try await lets.value
    #expect(all == ["-", "4G/LTE", "-"])
    let lack = "has printed no whole line yet; a line ends with a line feed"
    #expect(log.messages.first == "radio.source: \(folder.file("radio")) \(lack)")
    #expect(log.messages.count { $0.contains(lack) } == 1)
  }

  @Test("when a line is very long, then the log shows only its beginning, and later lines count")
  func longLine() async throws {
    let source = try await script("head -c 100000 /dev/zero | tr '\\0' x; echo; echo 4G/LTE; exec sleep 60")
    #expect(await deliveries(1, of: source) == ["4G/LTE"])
    let line = try #require(log.messages.first)
    #expect(line.contains(" says \"\(String(repeating: "x", count: 60))\", which"))
  }

  @Test("when the drive ends, then the program ends, and what it has started ends with it")
  func ends() async throws {
    let source = try await script("sleep 300 & echo $$ $! >\(folder.file("pids")); echo 4G/LTE; wait")
    #expect(await deliveries(1, of: source) == ["4G/LTE"])
    let processes = try String(contentsOfFile: folder.file("pids"), encoding: .utf8).split(
      whereSeparator: \.isWhitespace)
    #expect(processes.count == 2)
    for process in processes {
      // A process that has ended has no command line, until another process has waited for it.
      _ = try await eventually("process \(process) has ended") {
        let line = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
        return line?.isEmpty ?? true ? () : nil
      }
    }
    #expect(log.messages.isEmpty, "a requested end is no trouble")
  }
}
