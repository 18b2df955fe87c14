import Foundation
import Glibc

/// Reads a file that the operator names: a regular one, a pipe, or standard input as `/dev/stdin`.
public enum InputFile {
  /// Reads all of a file. A regular file that is too long is refused by its size, a pipe when its bytes exceed the limit.
  /// - Parameters:
  ///   - path: A path; `-` is standard input.
  ///   - limit: In bytes; a longer file is refused.
  public static func contents(_ path: String, limit: Int) throws(InputFileError) -> Data {
    let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw InputFileError(path: path, reason: String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var data = Data()
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      guard status.st_size <= limit else { throw tooLong(path, limit) }
      data.reserveCapacity(Int(status.st_size))
    }
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFileError(path: path, reason: String(cString: strerror(errno))) }
      if count == 0 { return data }
      data.append(contentsOf: piece.prefix(count))
      guard data.count <= limit else { throw tooLong(path, limit) }
    }
  }

  private static func tooLong(_ path: String, _ limit: Int) -> InputFileError {
    InputFileError(path: path, reason: "it is longer than \(limit) bytes")
  }

  /// Whether a second read of `path` returns its contents again. A pipe or standard input is empty by then.
  public static func canBeReadAgain(_ path: String) -> Bool {
    var status = stat()
    // Opening a missing file reports it.
    return path != "-" && (stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG)
  }
}

/// A file that the operator named and that cannot be read.
public struct InputFileError: Error, Hashable, CustomStringConvertible {
  /// The path that the operator gave.
  public let path: String
  /// The reason, without the path.
  public let reason: String

  /// Path and reason, in one line.
  public var description: String { "cannot read \(path): \(reason)" }
}
