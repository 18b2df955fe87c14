import Glibc

/// Why the result of a command could not be written.
struct OutputError: Error, Hashable, CustomStringConvertible {
  let path: String
  /// The value of errno(3).
  let code: CInt

  /// Whether the program that reads the output has ended, as `head` does after its last line.
  var isReaderGone: Bool { code == EPIPE }

  var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}
