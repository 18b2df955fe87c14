import Coverage
import Foundation

/// The file of `network.source: file:PATH`, read repeatedly.
struct PathFile {
  /// The file cannot be read, or its last line is not a path.
  struct ReadError: Error, Hashable, CustomStringConvertible {
    let file: String
    let reason: String

    var description: String { "network.source: \(file): \(reason); no network is assumed" }
  }

  let name: String
  private var last: Path?
  private var failures = 0

  init(name: String) { self.name = name }

  /// Reads the file. One failure can be the moment in which the file is replaced, so the path becomes offline at the second one in a row.
  /// - Returns: The path, `nil` before the first success or second failure; and the error at the second failure in a row, for the log.
  mutating func read() -> (path: Path?, newError: ReadError?) {
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

  static func lastWord(of file: String) -> Result<Path, ReadError> {
    guard let data = FileManager.default.contents(atPath: file) else {
      return .failure(ReadError(file: file, reason: "it cannot be read"))
    }
    let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
    let word = lines.last?.trimmingCharacters(in: .whitespaces) ?? ""
    guard let path = Path(rawValue: word) else {
      return .failure(
        ReadError(file: file, reason: "its last line is \"\(word.prefix(20))\", expected cellular, wifi or none"))
    }
    return .success(path)
  }
}
