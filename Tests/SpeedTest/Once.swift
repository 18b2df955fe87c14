import Foundation

/// True for the first caller only.
final class Once: Sendable {
  private let counter = Counter()

  var isFirst: Bool { counter.next() == 1 }
}
