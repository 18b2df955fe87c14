import Evidence

/// Where a capture goes, and how much of it is kept.
public struct CaptureSettings: Hashable, Sendable {
  /// The files are called `path`-0001.pcapng and so on; numbers go on after those of earlier captures, which stay.
  public var path: String
  /// The largest size of a file, in bytes.
  public var fileSize: UInt64
  /// So many files of this capture are kept, its oldest are removed.
  public var fileCount: UInt32

  public static let defaultFileSize: UInt64 = 16 << 20
  public static let defaultFileCount: UInt32 = 16
  /// What one file can hold at least and at most.
  public static let fileSizes: ClosedRange<UInt64> = 8192...4 << 30

  public init(path: String, fileSize: UInt64 = defaultFileSize, fileCount: UInt32 = defaultFileCount) {
    (self.path, self.fileSize, self.fileCount) = (path, fileSize, fileCount)
  }

  /// Opens the capture and its first file.
  /// - Throws: ``CaptureRefusal``
  func open() throws(CaptureRefusal) -> PacketCapture {
    var options = PacketCapture.Options(path: path)
    (options.fileSize, options.fileCount) = (fileSize, fileCount)
    do {
      return try PacketCapture(options)
    } catch {
      throw CaptureRefusal(path: path, error: error)
    }
  }
}
