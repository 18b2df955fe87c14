/// The token of a test, exactly as the control server issued it: one opaque text. Version 1 and 2 in it are never split, and
/// never encoded again (docs/protocol.md, edge 8). Each connection of the test sends the same token.
public struct MeasurementToken: Hashable, Sendable {
  /// The bytes that follow `TOKEN `: 1 to 1000 printable ASCII characters.
  public let text: String

  /// - Throws: ``SpeedTestError/unusableToken`` for a text that cannot be one argument of a line: empty, blanks, control
  ///   characters, other than ASCII, or more than 1000 bytes.
  public init(_ text: String) throws(SpeedTestError) {
    // With `TOKEN ` before it, the token has to fit into a line of 1023 bytes (docs/protocol.md, 7.2).
    guard (1...1000).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusableToken
    }
    self.text = text
  }
}
