import Foundation

/// Where an export goes: a file that appears whole or not at all, or standard output.
final class OutputFile {
  private let path: String?
  private let handle: FileHandle

  private var temporary: String { (path ?? "") + ".partial" }

  /// - Throws: ``OutputError``
  init(path: String?) throws {
    self.path = path
    guard let path else {
      handle = .standardOutput
      return
    }
    let temporary = path + ".partial"
    guard FileManager.default.createFile(atPath: temporary, contents: nil),
      let handle = FileHandle(forWritingAtPath: temporary)
    else { throw OutputError(path: path, reason: String(cString: strerror(errno))) }
    self.handle = handle
  }

  func write(_ text: String) throws {
    do {
      try handle.write(contentsOf: Data(text.utf8))
    } catch {
      throw OutputError(path: path ?? "standard output", reason: error.localizedDescription)
    }
  }

  func finish() throws {
    guard let path else { return }
    try handle.synchronize()
    try handle.close()
    guard rename(temporary, path) == 0 else {
      throw OutputError(path: path, reason: String(cString: strerror(errno)))
    }
  }
}

struct OutputError: Error, CustomStringConvertible {
  let path: String
  let reason: String

  var description: String { "cannot write \(path): \(reason)" }
}
