import Coverage
import Foundation

/// The file of `network.source: file:PATH`, read again and again.
struct PathFile {
  let name: String
  private var last: Path?
  private var failures = 0

  init(name: String) { self.name = name }

  /// Once unreadable may be the moment in which the file is written anew; only from the second time on it counts.
  /// - Returns: The path now, `nil` while it is not known; and the failure when it begins to count, for the log.
  mutating func read() -> (path: Path?, news: PathFileError?) {
    switch Self.lastWord(of: name) {
    case .success(let path):
      (last, failures) = (path, 0)
      return (path, nil)
    case .failure(let error):
      failures += 1
      guard failures > 1 else { return (last, nil) }
      return (.offline, failures == 2 ? error : nil)
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
