import Foundation
import TestSupport

/// True for the first caller only.
final class Once: Sendable {
  private let counter = Counter()

  var isFirst: Bool { counter.increment() == 1 }
}
