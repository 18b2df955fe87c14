/// The planned faults, in the order of the requests for them.
actor FaultPlan {
  private(set) var planned: [PlannedFault]

  init(_ planned: [PlannedFault] = []) { self.planned = planned }

  func add(_ fault: PlannedFault) { planned.append(fault) }

  /// Clears the faults of `path`, or all of them.
  func clear(path: String? = nil) {
    planned.removeAll { path == nil || $0.path == path }
  }

  /// The first planned fault for a request to `path`; counts it as used.
  func next(for path: String) -> Fault {
    guard let index = planned.firstIndex(where: { $0.path == path || $0.path == "*" }) else { return .none }
    let fault = planned[index].fault
    if let count = planned[index].count {
      if count > 1 { planned[index].count = count - 1 } else { planned.remove(at: index) }
    }
    return fault
  }
}
