import Foundation

/// The server's clock, and the rate of a slow link.
struct Pace {
  let rate: Int?
  private let start = Pace.now()
  private var bytes = 0

  init(rate: Int?) { self.rate = rate }

  /// ns.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Waits until so many more bytes are allowed.
  mutating func wait(for count: Int) {
    guard let rate else { return }
    bytes += count
    let due = Double(bytes) / Double(rate) - Double(Self.now() - start) / 1e9
    if due > 0 { Thread.sleep(forTimeInterval: due) }
  }
}
