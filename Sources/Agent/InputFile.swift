import Foundation
import Glibc

/// A file that the operator names: a regular one, a pipe, or standard input as `/dev/stdin`.
public enum InputFile {
  /// - Parameter limit: In bytes; what is longer is refused.
  /// - Throws: ``InputFileError``
  public static func contents(_ path: String, limit: Int = .max) throws(InputFileError) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw InputFileError(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var data = Data()
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      data.reserveCapacity(Int(clamping: status.st_size))
    }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFileError(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { return data }
      data.append(contentsOf: piece.prefix(count))
      guard data.count <= limit else { throw InputFileError(path: path, reason: "it is longer than \(limit) bytes") }
    }
  }

  /// Whether reading `path` a second time gives all of it again: of a pipe the second reader gets nothing.
  static func canBeReadAgain(_ path: String) -> Bool {
    var status = stat()
    // A file that is missing says so itself.
    return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
  }
}

/// A file that cannot be read, and why.
public struct InputFileError: Error, Hashable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String { "cannot read \(path): \(reason)" }
}
