/// Why the bytes of a file cannot be read as a capture.
public enum CaptureFileError: Error, Hashable, CustomStringConvertible {
  /// The first bytes are neither pcapng nor pcap.
  case notACapture

  /// One line for the operator.
  public var description: String { "not a capture file: it starts neither like pcapng nor like pcap" }
}
