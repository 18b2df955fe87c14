/// A connected stream without blocking: plain TCP, or TLS upon it. No call waits; callers wait by ``Waiting`` on `descriptor`.
protocol Transport {
  /// Reads bytes that have arrived. 0: nothing now.
  /// - Throws: ``SpeedTestError/closed`` at the end of the stream.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(SpeedTestError) -> Int
  /// Writes as many bytes as the stream takes. 0: nothing now. The next write must then begin with the same bytes, as TLS may
  /// have encrypted them already.
  /// - Throws: ``SpeedTestError/closed`` when the other side has ended the connection.
  func write(_ bytes: UnsafeRawBufferPointer) throws(SpeedTestError) -> Int
  /// Whether bytes can be read that poll does not announce, because they are decrypted already.
  var hasBuffered: Bool { get }
  /// For poll.
  var descriptor: Int32 { get }
  /// The version of TLS and the cipher; `nil` without TLS.
  var encryption: String? { get }
  /// Closes at once, without a `close_notify` of TLS.
  func close()
}

extension Transport {
  /// Writes as many of `bytes` from `start` on as the stream takes. 0: nothing now.
  func write(_ bytes: [UInt8], from start: Int = 0) throws(SpeedTestError) -> Int {
    try bytes.withUnsafeBufferPointer { bytes throws(SpeedTestError) in
      try write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[start...])))
    }
  }

  /// Up to 4096 bytes that are there; empty: nothing now.
  func readSome() throws(SpeedTestError) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = try buffer.withUnsafeMutableBufferPointer { bytes throws(SpeedTestError) in
      try read(into: UnsafeMutableRawBufferPointer(bytes))
    }
    return Array(buffer.prefix(count))
  }
}
