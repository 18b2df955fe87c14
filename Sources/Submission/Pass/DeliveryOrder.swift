import DriveStore

/// In which order batches go out.
enum DeliveryOrder {
  /// The newest first, by their first fences; behind them the batches that met trouble, the one that was sent least recently first.
  /// The store remembers the trouble, so that the order holds over restarts.
  static func sorted(_ batches: [Batch]) -> [Batch] {
    batches.sorted { left, right in
      switch (left.troubles > 0, right.troubles > 0) {
      case (false, false): (left.earliest, left.id) > (right.earliest, right.id)
      case (true, true): (left.sent ?? left.earliest, left.id) < (right.sent ?? right.earliest, right.id)
      case (false, true): true
      case (true, false): false
      }
    }
  }
}
