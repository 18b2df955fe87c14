/// Counts the bytes of a stream: they cost money even if the test fails. Above TLS, so that the bytes that TLS adds are not
/// counted.
final class CountedTransport: Transport {
  private let transport: any Transport
  private let counter: TrafficCounter

  init(_ transport: any Transport, _ counter: TrafficCounter) { (self.transport, self.counter) = (transport, counter) }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = try transport.read(into: buffer)
    counter.addReceived(count)
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int {
    let count = try transport.write(bytes)
    counter.addSent(count)
    return count
  }

  var hasBuffered: Bool { transport.hasBuffered }
  var descriptor: Int32 { transport.descriptor }
  var encryption: String? { transport.encryption }
  func close() { transport.close() }
}
