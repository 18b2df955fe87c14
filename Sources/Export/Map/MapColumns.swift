import Coverage
import OrderedJSON

/// The columns of the map page: those of every format (``ColumnList``), and values that the page cannot compute from them.
enum MapColumns {
  /// All columns. The end of a fence is left out: it is `entered_at` with `duration_ms` (`entered` in a replay).
  static let all = ColumnList.all.filter { !["exited", "exited_at"].contains($0.name) } + ofMap

  /// Numbers for the script: the class decides the colour, and the number of the session stands for its id, which replays
  /// lack.
  private static let ofMap: [Column] = [
    Column("technology_class", .integer, "place of its class in the legend of technologies") { record in
      .count(Legend.place(of: Legend.entry(of: record.fence)))
    },
    Column("signal_dbm", .decimal, "lowest level of the quantity that stands for the technology") { record in
      let level = record.fence.radio?.minimumLevel(of: record.fence.technology)
      return level.flatMap { JSON.rounded($0, places: 1) }
    },
    Column("drive_started_at", .time, "start of its drive, which its links share") {
      ($0.driveStarted?.iso8601).map(JSON.string)
    },
    Column("drive_session", .integer, "number of the session in its drive, from 0") { .count($0.session.number) },
  ]
}
