import ArgumentParser
import Driving
import Settings

/// `--capture PATH` and its options, the same for all commands that ping.
struct CaptureOptions: ParsableArguments {
  @Option(
    name: .long,
    help: ArgumentHelp(
      """
      Write the probe's own packets to PATH-0001.pcap and so on, numbered after the files of earlier captures, which \
      stay. Needs CAP_NET_RAW.
      """,
      valueName: "path"), completion: .file())
  var capture: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("The largest size of a file: 64K, 16M, 1G. Default: 16M.", valueName: "size"))
  var captureSize: String?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp(
      "How many files of this capture to keep; the oldest are deleted. Default: 16.", valueName: "number"))
  var captureFiles: UInt32?

  mutating func validate() throws {
    if capture == "" { throw ValidationError("--capture is empty: expected a path.") }
    if capture == nil, captureSize != nil || captureFiles != nil {
      throw ValidationError("--capture-size and --capture-files belong to --capture.")
    }
    if let captureSize, SizeText.bytes(captureSize).map(CaptureSettings.fileSizes.contains) != true {
      throw ValidationError("--capture-size is \"\(captureSize)\": expected 8K to 4G, such as 64K or 16M.")
    }
    if captureFiles == 0 { throw ValidationError("--capture-files is 0: expected 1 or more.") }
  }

  /// `nil` without --capture.
  var settings: CaptureSettings? {
    capture.map {
      CaptureSettings(
        path: $0, fileSize: captureSize.flatMap(SizeText.bytes) ?? CaptureSettings.defaultFileSize,
        fileCount: captureFiles ?? CaptureSettings.defaultFileCount)
    }
  }
}
