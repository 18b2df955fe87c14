import Foundation

/// One kind of input from outside, and all that the program does with it. Each file beside this one has a target and names it
/// `Target`; `tools/fuzz` builds each with this file into a program of libFuzzer's.
protocol FuzzTarget {
  /// Good inputs to begin with.
  static var seeds: [[UInt8]] { get }
  /// What the format is made of.
  static var words: [String] { get }
  /// Handles any bytes at all. A trap is the finding; what is refused is not.
  static func run(_ input: [UInt8])
}

extension FuzzTarget {
  /// The contents of the files in a folder of the shared fixtures, none where they are not there.
  static func fixtures(_ folder: String, suffix: String) -> [[UInt8]] {
    guard let fixtures = ProcessInfo.processInfo.environment["FUZZ_FIXTURES"] else { return [] }
    let path = fixtures + "/" + folder
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return names.sorted().filter { $0.hasSuffix(suffix) }
      .compactMap { FileManager.default.contents(atPath: path + "/" + $0) }.map([UInt8].init)
  }
}

/// The control: the arithmetic that `Sources` had before, where it still trapped. With it, each target has to fail soon.
enum Planted {
  static func nanoseconds(_ seconds: Int64) {
    #if PLANTED_TRAP
      _ = seconds * 1_000_000_000
    #endif
  }
}

@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(
  _ count: UnsafeMutablePointer<CInt>?,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
  guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
  let words = Target.words.enumerated().map { index, word in
    let escaped = word.utf8.map { byte in
      (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
        ? String(UnicodeScalar(byte)) : "\\x" + String(Int(byte) + 0x100, radix: 16).suffix(2)
    }
    return "w\(index)=\"\(escaped.joined())\"\n"
  }
  do {
    for (number, seed) in Target.seeds.enumerated() {
      try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
    }
    try Data(words.joined().utf8).write(to: URL(fileURLWithPath: folder + ".words"))
  } catch {
    FileHandle.standardError.write(Data("cannot write seeds: \(error)\n".utf8))
    exit(1)
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  Target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}
