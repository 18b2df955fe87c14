/// What is played: bytes, each piece with its moment.
struct Recording: Sendable {
  /// Bytes that are sent together.
  struct Piece: Hashable, Sendable {
    /// Seconds since the recording's start.
    var at: Double
    var bytes: [UInt8]
    /// How many epochs (moments for which the receiver has something to say) begin in it.
    var epochs: Int
  }

  /// No moment of a recording lies later, in seconds: 31 years, within the range of every clock.
  static let longest = 1e9

  /// In order of time.
  var pieces: [Piece]
  /// What the recorded gpsd said on connecting and to ?WATCH, where that was recorded.
  var greeting = Greeting()

  /// gpsd's first words, as lines without their end.
  struct Greeting: Hashable, Sendable {
    var version = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    var devices = """
      {"class":"DEVICES","devices":[{"class":"DEVICE","path":"\(GPSDReports.device)","driver":"NMEA0183",\
      "activated":"2026-01-01T00:00:00.000Z","native":0,"bps":9600,"parity":"N","stopbits":1,"cycle":1.00}]}
      """
  }
}

/// Why a recording cannot be played, for people.
struct PlayerError: Error, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Turns the times of day of a log into seconds since its start.
struct Pace {
  /// A longer step is a jump of the receiver's clock (a corrected date, a hole in the log) and takes one second.
  static let longestStep = 3600.0

  private(set) var elapsed = 0.0
  private var last: Double?

  /// Takes the next time in the log, in seconds of the day.
  /// - Returns: whether it begins an epoch.
  mutating func advance(to time: Double) -> Bool {
    guard let last else {
      self.last = time
      return true
    }
    guard time != last else { return false }
    var step = time - last
    if step < -43_200 { step += 86_400 }
    self.last = time
    // Sentences of one epoch can come with times that are a little out of order.
    elapsed += step < 0 ? 0 : step > Self.longestStep ? 1 : step
    return true
  }

  /// `hhmmss.sss` as seconds of the day.
  static func seconds(hhmmss text: some StringProtocol) -> Double? {
    let digits = Array(text.utf8)
    guard digits.count >= 6, digits.prefix(6).allSatisfy({ (0x30...0x39).contains($0) }),
      let hours = Int(text.prefix(2)), let minutes = Int(text.dropFirst(2).prefix(2)),
      let seconds = Double(text.dropFirst(4)), hours < 24, minutes < 60, (0..<61).contains(seconds)
    else { return nil }
    return Double(hours * 3600 + minutes * 60) + seconds
  }
}
