import Store

/// The order in which batches are sent.
enum DeliveryOrder {
  /// The newest batches first, by their first fences. Batches that met trouble follow, the least recently sent first.
  /// The store counts the trouble, so the order survives a restart.
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
