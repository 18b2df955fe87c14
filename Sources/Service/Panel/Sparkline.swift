/// The delays of the last seconds as a row of bars.
///
/// The scale is fixed, so that bars of different moments and links can be compared: the lowest bar is below 15 ms, and each
/// higher one has twice the limit, up to 960 ms. A second with pings and without an answer is `×`, one without pings a blank.
enum Sparkline {
  /// A part of the row that has one look.
  struct Run: Hashable, Sendable {
    var text: String
    var isLoss: Bool
  }

  private static let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// The upper end of the lowest bar, in milliseconds.
  private static let lowest = 15.0

  /// The last `width` seconds, the newest at the right. A second with some pings lost is a bar that looks like loss.
  static func runs(_ seconds: [PanelSecond], width: Int) -> [Run] {
    seconds.suffix(max(0, width)).reduce(into: []) { runs, second in
      let isLoss = (second.loss ?? 0) > 0
      if let last = runs.indices.last, runs[last].isLoss == isLoss {
        runs[last].text += mark(second)
      } else {
        runs.append(Run(text: mark(second), isLoss: isLoss))
      }
    }
  }

  private static func mark(_ second: PanelSecond) -> String {
    guard second.pings > 0 else { return " " }
    guard second.answered > 0, let delay = second.milliseconds, delay.isFinite else { return "×" }
    var (limit, place) = (lowest, 0)
    while delay >= limit, place < bars.count - 1 { (limit, place) = (limit * 2, place + 1) }
    return bars[place]
  }
}
