extension [UInt8] {
  /// The four bytes at `place` as a big-endian number.
  func number(_ place: Int) -> UInt32 { self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }
}
