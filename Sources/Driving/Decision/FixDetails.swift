import OrderedJSON
import Positioning

extension PositionedFix {
  /// The receiver's own figures, written beside the fix in the drive log; replay ignores them.
  var details: [JSON.Member] {
    JSON.members([
      "accuracy_source": fix.accuracy.map { _ in .string(accuracyRule.source.rawValue) },
      "accuracy_rule": fix.accuracy.map { _ in .string(accuracyRule.rawValue) },
      "driver": driver.map(JSON.string),
      "mode": report.map { .integer(Int64($0.mode)) },
      "status": report?.status.map { .integer(Int64($0)) },
      "eph": report?.eph.map(JSON.number),
      "epx": report?.epx.map(JSON.number),
      "epy": report?.epy.map(JSON.number),
      "epv": report?.epv.map(JSON.number),
      "hdop": dilution?.hdop.map(JSON.number),
      "xdop": dilution?.xdop.map(JSON.number),
      "ydop": dilution?.ydop.map(JSON.number),
      "gst_latitude": gst?.latitude.map(JSON.number),
      "gst_longitude": gst?.longitude.map(JSON.number),
      "gst_major": gst?.major.map(JSON.number),
      "gst_minor": gst?.minor.map(JSON.number),
      "refused_speed": refusedSpeed.map(JSON.number),
    ])
  }
}
