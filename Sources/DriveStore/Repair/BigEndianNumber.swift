extension [UInt8] {
  /// Four bytes, big-endian.
  func number(_ place: Int) -> UInt32 { self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
}
