/// The token of a test, exactly as the control server issued it. Its parts are never split or encoded again (spec, edge 8).
public struct MeasurementToken: Hashable, Sendable {
  /// The token's text.
  public let text: String

  /// - Throws: ``SpeedTestError/unusableToken`` for a text that cannot be one argument of a line: empty, blanks, control
  ///   characters, other than ASCII, or more than 1000 bytes.
  public init(_ text: String) throws(SpeedTestError) {
    guard (1...1000).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .unusableToken
    }
    self.text = text
  }
}
