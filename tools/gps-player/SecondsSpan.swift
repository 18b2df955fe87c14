import ArgumentParser

/// A span of seconds, `FROM,TO`.
struct SecondsSpan: Hashable, Sendable, ExpressibleByArgument {
  let from: Double
  let to: Double

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    guard parts.count == 2, let from = parts[0], let to = parts[1], from >= 0, to > from, to <= Recording.longest else {
      return nil
    }
    self.from = from
    self.to = to
  }

  func contains(_ seconds: Double) -> Bool { seconds >= from && seconds < to }
}
