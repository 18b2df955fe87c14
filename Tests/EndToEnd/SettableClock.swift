import Foundation
import TestSupport
import Testing

/// A library loaded before libc in a program under test, which gives it other clocks (settable-clock.c).
enum SettableClock {
  private static let compiler = Surroundings.program("cc") ?? Surroundings.program("gcc")

  static var isPossible: Bool { compiler != nil }

  /// Builds the library and returns its path, for `LD_PRELOAD`.
  static func library(in folder: TemporaryFolder) async throws -> String {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "settable-clock.c").path
    let compiler = try #require(Self.compiler)
    let library = folder.file("settable-clock.so")
    let run = try RunningProgram(compiler, ["-shared", "-fPIC", "-O1", "-o", library, source])
    try #require(try await run.exitStatus() == 0, "\(run.standardError)")
    return library
  }
}
