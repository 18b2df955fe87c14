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
  public var current: Path {
    switch source {
    case .fixed(let path): path
    case .file(let file): Self.lastWord(of: file) ?? .offline
    case .auto: route.path
    }
  }

  /// Delivers every change until the task is cancelled; `first` is what is known already.
  public func run(from first: Path, _ deliver: @Sendable (Path) -> Void) async {
    if case .fixed = source { return }
    var last = first
    while !Task.isCancelled {
      let path = current
      if path != last {
        logger.info("network path: \(path.rawValue)")
        deliver(path)
        last = path
      }
      do { try await Task.sleep(for: pollInterval) } catch { return }
    }
  }

  /// `nil` when there is no such file, or its last line is none of the words.
  static func lastWord(of file: String) -> Path? {
    guard let data = FileManager.default.contents(atPath: file) else { return nil }
    let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
    return lines.last.flatMap { Path(rawValue: $0.trimmingCharacters(in: .whitespaces)) }
  }
}
