/// Why a file cannot be read as a capture.
public enum CaptureFileError: Error, Hashable, CustomStringConvertible {
  /// The file cannot be read.
  case unreadable(path: String, reason: String)
  /// The first bytes are neither pcapng nor pcap.
  case notACapture(path: String?)

  /// One line for the operator.
  public var description: String {
    switch self {
    case .unreadable(let path, let reason): "cannot read capture file \(path): \(reason)"
    case .notACapture(let path?): "\(path) is not a capture file: it starts neither like pcapng nor like pcap"
    case .notACapture(nil): "not a capture file: it starts neither like pcapng nor like pcap"
    }
  }
}
