import Foundation
import Synchronization

/// Files, programs and privileges outside the tests.
public enum Surroundings {
  /// The top of the checkout.
  public static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Recordings of real receivers and clients.
  public static func fixture(_ path: String) -> URL {
    root.deletingLastPathComponent().appending(path: "shared/fixtures").appending(path: path)
  }

  /// An executable of this package, as built beside the tests that run now.
  public static func product(_ name: String) -> URL {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appending(path: name)
  }

  /// Whether the process has CAP_NET_RAW, which a capture of packets needs.
  public static let mayCapture = has(capability: 13)

  /// Whether the process has CAP_SYS_ADMIN, which mounting a small disk needs.
  public static let mayMount = has(capability: 21)

  static func has(capability: Int) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let bits = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) }
    return (bits ?? 0) >> capability & 1 == 1
  }

  /// Whether `net.ipv4.ping_group_range` is the kernel's default, under which every echo socket needs a privilege.
  public static let isPingGroupEmpty: Bool = {
    let range = (try? String(contentsOfFile: "/proc/sys/net/ipv4/ping_group_range", encoding: .utf8)) ?? ""
    return range.split(whereSeparator: \.isWhitespace) == ["1", "0"]
  }()

  /// How long the host of this virtual machine has given each of its processors to others, on average since the start (proc(5)).
  public static var stolenTime: Duration {
    let line = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8))?.prefix { $0 != "\n" } ?? ""
    let ticks = line.split(separator: " ").dropFirst(8).first.flatMap { Double($0) } ?? 0
    return .seconds(ticks / Double(sysconf(CInt(_SC_CLK_TCK))) / Double(ProcessInfo.processInfo.processorCount))
  }

  /// The share of a processor that each thread that wants one gets now: 1 while there are as many processors (proc(5), loadavg).
  static var processorShare: Double {
    let fields = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ") ?? []
    let running = fields.dropFirst(3).first?.split(separator: "/").first.flatMap { Double($0) } ?? 1
    return min(1, Double(ProcessInfo.processInfo.processorCount) / max(1, running))
  }

  /// A program of the system, if it is installed.
  public static func program(_ name: String) -> URL? {
    ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map { URL(fileURLWithPath: $0).appending(path: name) }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }
}

/// A private folder for one test, removed afterwards.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "coverage-probe-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  public func file(_ name: String) -> String { path + "/" + name }

  /// Writes `text` to the file `name` and returns its path.
  public func write(_ text: String, to name: String) throws -> String {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
    return file(name)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A clock of waits that follows the progress which programs can make: it runs slower while more threads want a processor than there are
/// processors, and stands while the host of this virtual machine gives them to others. So a busy machine is slow and not red.
struct ProgressClock {
  private(set) var passed = Duration.zero
  private var last = ContinuousClock.now
  private var stolen = Surroundings.stolenTime

  mutating func advance() {
    let (now, stolenNow) = (ContinuousClock.now, Surroundings.stolenTime)
    passed += max(.zero, (now - last) - (stolenNow - stolen)) * Surroundings.processorShare
    (last, stolen) = (now, stolenNow)
  }
}

/// How long something takes, in the time of a ``ProgressClock``, for tests of what must happen soon.
public final class ProgressWatch: Sendable {
  private let clock = Mutex(ProgressClock())

  /// Starts.
  public init() {
    // Not a task: the tests may occupy all threads of the pool.
    Thread.detachNewThread { [weak self] in
      while self?.advance() != nil { usleep(50_000) }
    }
  }

  /// Since the start.
  public var passed: Duration { advance() }

  @discardableResult
  private func advance() -> Duration {
    clock.withLock {
      $0.advance()
      return $0.passed
    }
  }
}

/// Waits for a condition, and fails if it stays false.
/// - Parameter limit: In the time of a ``ProgressClock``.
public func eventually<Value>(
  within limit: Duration = .seconds(120), _ what: String, _ probe: () async throws -> Value?
) async throws -> Value {
  var clock = ProgressClock()
  while clock.passed < limit {
    let began = ContinuousClock.now
    if let value = try await probe() { return value }
    // A probe may start a program: waiting tests leave most of the processors to working ones.
    try await Task.sleep(for: min(max(.milliseconds(20), began.duration(to: .now) * 4), .milliseconds(300)))
    clock.advance()
  }
  throw NeverHappened(what: what, limit: limit)
}

public struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  let limit: Duration
  public var description: String { "\(what) did not happen within \(limit)" }
}
