import OrderedJSON
import Positioning

extension PositionedFix {
  /// What the receiver said, as it said it, to stand beside the fix in the drive log; replay ignores it.
  var details: [JSON.Member] {
    JSON.members([
      "accuracy_source": fix.accuracy.map { _ in .string(accuracySource.rawValue) },
      "mode": report.map { .integer(Int64($0.mode)) },
      "status": report?.status.map { .integer(Int64($0)) },
      "eph": report?.eph.map(JSON.number),
      "epx": report?.epx.map(JSON.number),
      "epy": report?.epy.map(JSON.number),
      "epv": report?.epv.map(JSON.number),
      "hdop": hdop.map(JSON.number),
    ])
  }
}
