import Foundation

/// Lines on standard output, each in one write.
enum Journal {
  static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
