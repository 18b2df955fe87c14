/// Where a capture is written, and how much of it is stored.
public struct CaptureSettings: Hashable, Sendable {
  /// The files are named `path`-0001.pcapng and so on. Numbers continue after those of earlier captures, which stay.
  public var path: String
  /// The largest size of a file, in bytes.
  public var fileSize: UInt64
  /// The number of files of this capture that are stored; its oldest are deleted.
  public var fileCount: UInt32

  /// 16 MiB.
  public static let defaultFileSize: UInt64 = 16 << 20
  /// 16 files.
  public static let defaultFileCount: UInt32 = 16
  /// The range of ``fileSize``, in bytes.
  public static let fileSizes: ClosedRange<UInt64> = 8192...4 << 30

  /// - Parameters:
  ///   - path: The path without number and suffix.
  ///   - fileSize: In bytes, within ``fileSizes``.
  ///   - fileCount: At least 1.
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
