/// The file of `control-server.ca-file` cannot be read, or holds no PEM certificate.
struct CAFileError: Error, CustomStringConvertible {
  /// The path as it is in the configuration.
  let path: String

  /// One line for the operator.
  var description: String { "control-server.ca-file: \(path) holds no PEM certificates that can be read" }
}
