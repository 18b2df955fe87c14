/// A value in memory of its own: eight bytes where it is kept. For large values that most of their owners do not have.
indirect enum OnHeap<Value> {
  case value(Value)

  var value: Value {
    switch self {
    case .value(let value): value
    }
  }
}

extension OnHeap: Equatable where Value: Equatable {}
extension OnHeap: Hashable where Value: Hashable {}
extension OnHeap: Sendable where Value: Sendable {}
