// The control of tools/fuzz: Sources/Coverage/Duration.swift with the arithmetic that it had when a receiver's date of the year 2400
// ended the process.

extension Duration {
  public var inMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  public var inMilliseconds: Int64 { inMicroseconds / 1000 }

  public var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  public var magnitude: Duration { self < .zero ? .zero - self : self }

  public var inSeconds: Double { Double(inNanoseconds) / 1e9 }
}
