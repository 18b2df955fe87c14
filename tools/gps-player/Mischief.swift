/// The disturbances of a play. Seconds are the recording's.
struct Mischief: Sendable {
  var startAt = 0.0
  var silence: [SecondsSpan] = []
  var closeAt: [Double] = []
  var away: [SecondsSpan] = []
  var garbage: [[UInt8]] = []

  /// The steps of a play of `recording`, in order of time.
  func steps(of recording: Recording) -> [Step] {
    var steps: [Step] = []
    let heard = recording.pieces.filter { piece in
      piece.at >= startAt && !silence.contains { $0.contains(piece.at) }
    }
    for (index, piece) in heard.enumerated() {
      if !garbage.isEmpty {
        let bytes = garbage[index % garbage.count]
        steps.append(Step(at: piece.at, action: .send(.init(at: piece.at, bytes: bytes, epochs: 0))))
      }
      steps.append(Step(at: piece.at, action: .send(piece)))
    }
    steps += closeAt.map { Step(at: $0, action: .closeConnections) }
    steps += away.flatMap { [Step(at: $0.from, action: .leave), Step(at: $0.to, action: .comeBack)] }
    // `sorted` is stable: steps of the same time stay in order.
    return steps.filter { $0.at >= startAt }.sorted { $0.at < $1.at }
  }

  /// Broken sentences for a feed. A correct reader gets no position from them.
  static var nmeaGarbage: [[UInt8]] {
    [
      "$GPGGA,120000.00,4800.000,N,01600.000,E,1,08,1.0,100.0,M,,M,,*00\r\n",
      NMEA.sentence("GPGGA,nan,nan,N,nan,E,1,08,nan,nan,M,,M,,"),
      "$GPRMC,1200\r\n",
      "$GPTXT,\(String(repeating: "x", count: 20_000))\r\n",
      NMEA.sentence("GPXYZ,unknown,sentence"),
    ].map { Array($0.utf8) } + [[0xB5, 0x62, 0x01, 0x07, 0x00, 0x00, 0xFF, 0xFF]]
  }

  /// Broken reports for gpsd's clients. A correct client gets no position from them.
  static var reportGarbage: [[UInt8]] {
    [
      #"{"class":"TPV","device":"\#(GPSDReports.device)","mode":3,"lat":"#,
      #"{"class":"TPV","device":"\#(GPSDReports.device)","mode":3,"lat":nan,"lon":NaN,"eph":inf}"#,
      "not JSON at all",
      #"{"class":"RTCM3","data":[1,2,],}"#,
      #"{"class":"TXT","text":"\#(String(repeating: "x", count: 70_000))"}"#,
      #"{"class":"TPV","device":"\#(GPSDReports.device)","mode":3,"lat":91.0,"lon":181.0,"eph":3.0}"#,
      #"{"class":"TPV","device":"\#(GPSDReports.device)","mode":3,"lat":0.0,"lon":0.0,"eph":3.0}"#,
      #"{"class":"TPV","device":"\#(GPSDReports.device)","mode":3,"time":"2026-01-01T00:00:00.000Z"}"#,
      "\u{FFFD}\u{0}\u{1}",
    ].map { Array(($0 + "\r\n").utf8) }
  }
}
