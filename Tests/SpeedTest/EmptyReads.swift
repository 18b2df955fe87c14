@testable import SpeedTest

/// Counts the reads without bytes. A connection that reads all available bytes ends with one of them.
final class EmptyReads: Transport {
  private let transport: any Transport
  private(set) var count = 0

  init(_ transport: any Transport) { self.transport = transport }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    let read = try transport.read(into: buffer)
    if read == 0 { count += 1 }
    return read
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int { try transport.write(bytes) }

  var hasBuffered: Bool { transport.hasBuffered }
  var descriptor: Int32 { transport.descriptor }
  var encryption: String? { transport.encryption }
  func close() { transport.close() }
}
