/// A log of a receiver's bytes: NMEA, binary, or both. They are played unchanged.
enum ReceiverLog {
  /// - Parameter rate: In bytes a second; `nil`: the pace of the log's NMEA times.
  static func recording(_ bytes: [UInt8], rate: Double?) throws -> Recording {
    let body = withoutHeader(bytes)
    guard !body.isEmpty else { throw PlayerError("the log is empty") }
    let epochs = epochs(in: body)
    if let rate { return Recording(pieces: chunks(of: body, rate: rate, epochs: epochs.map(\.offset))) }
    guard !epochs.isEmpty else { throw PlayerError("the log has no NMEA times to set the pace; use --rate") }
    return Recording(pieces: pieces(of: body, epochs: epochs))
  }

  /// The log without its leading lines with `#`, which are notes and not from the receiver.
  static func withoutHeader(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    var rest = bytes[...]
    while rest.first == UInt8(ascii: "#") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return [] }
      rest = rest[(end + 1)...]
    }
    return rest
  }

  /// The beginning of an epoch: its offset, and its time in seconds.
  struct Epoch: Hashable {
    let offset: Int
    let at: Double
  }

  static func epochs(in body: ArraySlice<UInt8>) -> [Epoch] {
    var epochs: [Epoch] = []
    var pace = Pace()
    for line in body.split(separator: UInt8(ascii: "\n")) {
      // Binary messages can precede a sentence on the same line.
      guard let start = line.lastIndex(of: UInt8(ascii: "$")) else { continue }
      guard let (type, time) = time(in: line[start...]), pace.advance(to: time, of: type) else { continue }
      epochs.append(Epoch(offset: start, at: pace.elapsed))
    }
    return epochs
  }

  /// The type of a sentence, and its time of day in seconds.
  private static func time(in sentence: ArraySlice<UInt8>) -> (type: String, time: Double)? {
    guard sentence.count < 200, let text = String(validating: sentence, as: UTF8.self) else { return nil }
    let fields = text.split(separator: ",", omittingEmptySubsequences: false)
    guard let address = fields.first, address.utf8.count == 6 else { return nil }
    let index: Int
    switch address.suffix(3) {
    case "GGA", "RMC", "GNS", "ZDA", "GST": index = 1
    case "GLL": index = 5
    default: return nil
    }
    guard fields.count > index, let time = Pace.seconds(hhmmss: fields[index]) else { return nil }
    return (String(address), time)
  }

  private static func pieces(of body: ArraySlice<UInt8>, epochs: [Epoch]) -> [Recording.Piece] {
    var pieces: [Recording.Piece] = []
    // Bytes before the first time belong to the first piece.
    var start = body.startIndex
    for (index, epoch) in epochs.enumerated() {
      let end = index + 1 < epochs.count ? epochs[index + 1].offset : body.endIndex
      pieces.append(.init(at: epoch.at, bytes: Array(body[start..<end]), epochs: 1))
      start = end
    }
    return pieces
  }

  private static func chunks(of body: ArraySlice<UInt8>, rate: Double, epochs: [Int]) -> [Recording.Piece] {
    // Twenty chunks a second are as smooth as a serial line's own buffering.
    let size = max(1, Int(min(rate / 20, Double(body.count))))
    var pending = epochs[...]
    return stride(from: body.startIndex, to: body.endIndex, by: size).map { start in
      let end = min(start + size, body.endIndex)
      let begun = pending.prefix { $0 < end }.count
      pending = pending.dropFirst(begun)
      return .init(at: Double(start - body.startIndex) / rate, bytes: Array(body[start..<end]), epochs: begun)
    }
  }
}
