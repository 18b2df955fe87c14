import Foundation
import Testing

@testable import SpeedTest

@Suite struct ChunkTests {
  private func read(_ reader: inout ChunkReader, _ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try reader.read($0) }
  }

  private func stream(chunks: Int, size: Int, fill: UInt8 = 0xFF) -> [UInt8] {
    (1...chunks).flatMap { [UInt8](repeating: fill, count: size - 1) + [$0 == chunks ? 0xFF : 0] }
  }

  @Test("Edge 15: when chunks are full of 0xFF and reads end anywhere, then only the flag of the last chunk ends them")
  func anySplit() throws {
    let bytes = stream(chunks: 5, size: 16)
    for step in 1...bytes.count {
      var reader = ChunkReader(size: 16)
      for start in stride(from: 0, to: bytes.count, by: step) {
        #expect(!reader.hasEnded)
        try read(&reader, Array(bytes[start..<min(start + step, bytes.count)]))
      }
      #expect(reader.hasEnded)
      #expect(reader.bytes == 80)
    }
  }

  @Test("Edge 16: when bytes follow the last chunk, in its read or later, then the protocol is broken")
  func bytesBehind() throws {
    var reader = ChunkReader(size: 16)
    #expect(throws: SpeedTestError.self) { try read(&reader, stream(chunks: 2, size: 16) + [1]) }
    var other = ChunkReader(size: 16)
    try read(&other, stream(chunks: 2, size: 16))
    #expect(throws: SpeedTestError.self) { try read(&other, [1]) }
  }

  @Test("When a flag is neither 0 nor 255, then the protocol is broken")
  func wrongFlag() {
    var reader = ChunkReader(size: 16)
    #expect(throws: SpeedTestError.self) { try read(&reader, [UInt8](repeating: 0x42, count: 16)) }
  }

  @Test("When chunks are written in pieces, then a reader sees whole chunks, and the last one begins after time is up")
  func writerAndReader() throws {
    var generator = SystemRandomNumberGenerator()
    for limit in [1, 5, 16, 17, 100] {
      var writer = ChunkWriter(size: 16, generator: &generator)
      var reader = ChunkReader(size: 16)
      while !writer.hasEnded {
        let sent = try writer.write(isTimeUp: writer.bytes >= 37, limit: limit) { bytes in
          try reader.read(bytes)
          return bytes.count
        }
        #expect(sent > 0)
      }
      #expect(reader.hasEnded)
      #expect(writer.bytes == 64)
    }
  }

  @Test("When the stream accepts no byte of a new chunk, then the chunk keeps its flag: TLS may hold the bytes")
  func decidedFlag() {
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 16, generator: &generator)
    _ = writer.write(isTimeUp: false, limit: 100) { _ in 0 }
    var flags: [UInt8] = []
    while !writer.hasEnded {
      _ = writer.write(isTimeUp: true, limit: 100) { bytes in
        flags.append(bytes[15])
        return 16
      }
    }
    #expect(flags == [0, 0xFF])
  }

  @Test("Edge 31: when an upload is made, then its bytes are random")
  func randomPayload() throws {
    var generator = SystemRandomNumberGenerator()
    var writer = ChunkWriter(size: 262_144, generator: &generator)
    var counts = [Int](repeating: 0, count: 256)
    _ = writer.write(isTimeUp: true, limit: 262_144) { bytes in
      for byte in bytes { counts[Int(byte)] += 1 }
      return bytes.count
    }
    // 1024 of each value, and no value is off by eight standard deviations.
    #expect(counts.allSatisfy { (768...1280).contains($0) })
  }
}
