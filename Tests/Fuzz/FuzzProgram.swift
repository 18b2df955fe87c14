import Foundation

// The entry points of libFuzzer. One program has all targets: the name by which it is called selects one.

private let targets: [any FuzzTarget.Type] = [
  GPSDLines.self, ServerAnswers.self, ConfigurationFiles.self, DriveLogs.self, CaptureFiles.self,
  MeasurementServers.self, GroundFiles.self,
]

private nonisolated(unsafe) var target: any FuzzTarget.Type = GPSDLines.self

/// Selects the target, and writes its seeds and dictionary to the folder `FUZZ_SEEDS` and the file beside it.
@_cdecl("LLVMFuzzerInitialize")
public func fuzzerInitialize(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>>>
) -> CInt {
  let name = String(cString: arguments.pointee[0]).split(separator: "/").last.map(String.init) ?? ""
  guard let chosen = targets.first(where: { "\($0)" == name }) else {
    fail("call this program by the name of a target: \(targets.map { "\($0)" }.joined(separator: ", "))")
  }
  target = chosen
  guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
  do {
    for (number, seed) in target.seeds.enumerated() {
      try Data(seed).write(to: URL(fileURLWithPath: "\(folder)/seed-\(number)"))
    }
    try Data(target.words.enumerated().map(dictionaryLine).joined().utf8)
      .write(to: URL(fileURLWithPath: folder + ".words"))
  } catch {
    fail("cannot write seeds: \(error)")
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzerTestOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

/// Every other input is changed by libFuzzer's own mutations and its dictionary, the rest by ``NumberMutation``.
@_cdecl("LLVMFuzzerCustomMutator")
public func fuzzerCustomMutator(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int, _ seed: UInt32) -> Int
{
  var mutation = NumberMutation(seed: UInt64(seed))
  guard mutation.coin() else { return libFuzzerMutate(bytes, count, limit) }
  let input = Array(UnsafeBufferPointer(start: bytes, count: count))
  let changed = mutation.changed(input).prefix(limit)
  // libFuzzer does not accept an empty input.
  guard !changed.isEmpty else { return libFuzzerMutate(bytes, count, limit) }
  for (index, byte) in changed.enumerated() { bytes[index] = byte }
  return changed.count
}

@_silgen_name("LLVMFuzzerMutate")
private func libFuzzerMutate(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ limit: Int) -> Int

private func dictionaryLine(_ index: Int, _ word: String) -> String {
  let escaped = word.utf8.map { byte in
    (0x20..<0x7F).contains(byte) && byte != 0x22 && byte != 0x5C
      ? String(UnicodeScalar(byte)) : "\\x" + String(Int(byte) + 0x100, radix: 16).suffix(2)
  }
  return "w\(index)=\"\(escaped.joined())\"\n"
}

private func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data((message + "\n").utf8))
  exit(1)
}
