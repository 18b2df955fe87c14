import Coverage

/// The part of a drive that one of its links measured. In the store, each link has a drive of its own.
protocol LinkOfDrive {
  /// Its number in the store.
  var id: Int64 { get }
  var started: WallTime { get }
  var link: String? { get }
}

extension LinkOfDrive {
  /// Whether this is another link of the same drive: the clock of each link is set on its own, by some microseconds differently.
  fileprivate func isBeside(_ other: Self) -> Bool {
    link != other.link && (started - other.started).inMicroseconds.saturatingMagnitude <= 1_000_000
  }
}

extension Sequence where Element: LinkOfDrive {
  /// The drives in their order, each with its links.
  var drives: [[Element]] {
    sorted { ($0.started, $0.id) < ($1.started, $1.id) }.reduce(into: []) { drives, link in
      if let last = drives.last, last.allSatisfy({ link.isBeside($0) }) {
        drives[drives.count - 1].append(link)
      } else {
        drives.append([link])
      }
    }
  }
}
