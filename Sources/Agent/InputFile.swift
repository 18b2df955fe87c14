import Foundation

/// A file that the operator names.
public enum InputFile {
  /// - Throws: ``InputFileError``
  public static func contents(_ path: String) throws(InputFileError) -> Data {
    if let data = FileManager.default.contents(atPath: path) { return data }
    throw InputFileError(path: path, reason: reason(path))
  }

  private static func reason(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) < 0 ? String(cString: strerror(errno)) : "it cannot be read"
  }
}

/// A file that cannot be read, and why.
public struct InputFileError: Error, Hashable, CustomStringConvertible {
  public let path: String
  public let reason: String

  public var description: String { "cannot read \(path): \(reason)" }
}
