import Coverage
import Foundation
import Logging

/// Tells which kind of link carries the pings, and when that changes.
public struct PathMonitor: Sendable {
  private let source: PathSource
  private let route: Route
  private let pollInterval: Duration
  private let logger: Logger

  /// - Parameters:
  ///   - interface: The interface that pings are bound to, if any.
  ///   - destination: The host that the pings go to, as far as it is known; its route decides in `auto`.
  public init(
    source: PathSource, interface: String?, destination: String?, pollInterval: Duration = .seconds(1), logger: Logger
  ) {
    self.source = source
    route = Route(interface: interface, destination: destination)
    self.pollInterval = pollInterval
    self.logger = logger
  }

  /// The kind of link now.
  public var current: Path { (try? reading.get()) ?? .offline }

  private var reading: Result<Path, PathFileError> {
    switch source {
    case .fixed(let path): .success(path)
    case .file(let file): Self.lastWord(of: file)
    case .auto: .success(route.path)
    }
  }

  /// Delivers every change until the task is cancelled; `first` is what is known already.
  public func run(from first: Path, _ deliver: @Sendable (Path) -> Void) async {
    if case .fixed = source { return }
    var last = first
    var failures = 0
    while !Task.isCancelled {
      let path: Path
      switch reading {
      case .success(let read): (path, failures) = (read, 0)
      case .failure(let error):
        failures += 1
        // Once may be the moment in which the file is written anew.
        path = failures > 1 ? .offline : last
        if failures == 2 { logger.warning("\(error)") }
      }
      if path != last {
        logger.info("network path: \(path.rawValue)")
        deliver(path)
        last = path
      }
      do { try await Task.sleep(for: pollInterval) } catch { return }
    }
  }

  static func lastWord(of file: String) -> Result<Path, PathFileError> {
    guard let data = FileManager.default.contents(atPath: file) else {
      return .failure(PathFileError(file: file, reason: "it cannot be read"))
    }
    let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
    let word = lines.last?.trimmingCharacters(in: .whitespaces) ?? ""
    guard let path = Path(rawValue: word) else {
      return .failure(
        PathFileError(file: file, reason: "its last line is \"\(word.prefix(20))\", expected cellular, wifi or none"))
    }
    return .success(path)
  }
}

/// The file of `network.source` says nothing.
struct PathFileError: Error, Hashable, CustomStringConvertible {
  let file: String
  let reason: String

  var description: String { "network.source: \(file): \(reason); no network is assumed" }
}
