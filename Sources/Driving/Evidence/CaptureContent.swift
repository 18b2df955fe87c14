/// The contents of a capture file, as a reader found them.
struct CaptureContent {
  var packets: [CapturedPacket] = []
  var statistics: CaptureStatistics?
  var damage: String?
  var unusable = 0
}
