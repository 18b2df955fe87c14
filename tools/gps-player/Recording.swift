/// The bytes to play, in pieces with their times.
struct Recording: Sendable {
  /// Bytes that are sent together.
  struct Piece: Hashable, Sendable {
    /// Seconds since the recording's start.
    var at: Double
    var bytes: [UInt8]
    /// The number of epochs, the receiver's measurement times, that begin in it.
    var epochs: Int
  }

  /// No moment of a recording lies later, in seconds: 31 years, within the range of every clock.
  static let longest = 1e9

  /// In order of time.
  var pieces: [Piece]
  /// The recorded gpsd's greeting and its answer to ?WATCH, if recorded; otherwise defaults.
  var greeting = Greeting()

  /// gpsd's greeting, as lines without their ends.
  struct Greeting: Hashable, Sendable {
    /// The device in the default greeting, and in the reports of a track.
    static let device = "/dev/ttyPlayer0"

    var version = #"{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}"#
    var devices = """
      {"class":"DEVICES","devices":[{"class":"DEVICE","path":"\(Self.device)","driver":"NMEA0183",\
      "activated":"2026-01-01T00:00:00.000Z","native":0,"bps":9600,"parity":"N","stopbits":1,"cycle":1.00}]}
      """
  }
}
