import Foundation

/// One kind of external input, and all that the program does with it.
protocol FuzzTarget: Sendable {
  /// Valid inputs to start from.
  static var seeds: [[UInt8]] { get }
  /// Tokens of the format, for the dictionary.
  static var words: [String] { get }
  /// Processes any bytes. A trap is a finding; a refused input is not.
  static func run(_ input: [UInt8])
}

extension FuzzTarget {
  /// The contents of the files in a folder of the shared fixtures; empty where the folder is missing.
  static func fixtures(_ folder: String, suffix: String) -> [[UInt8]] {
    guard let fixtures = ProcessInfo.processInfo.environment["FUZZ_FIXTURES"] else { return [] }
    let path = fixtures + "/" + folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().filter { $0.hasSuffix(suffix) }
      .compactMap { FileManager.default.contents(atPath: path + "/" + $0) }.map([UInt8].init)
  }
}
