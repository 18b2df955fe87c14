/// Read-back and faults under `/RMBTControlServer/-/`.
struct Backstage: Sendable {
  let store: Store
  let faults: FaultPlan

  private static let page = "<!DOCTYPE html><html><head><title>Page</title></head><body><p>A page.</p></body></html>\n"

  /// `nil` for an unknown path.
  func answer(method: String, path: String, body: [UInt8]) async throws -> Answer? {
    switch (method, path) {
    case ("GET", "\(Route.backstage)/tests"): return .json(try await store.tests())
    case ("GET", "\(Route.backstage)/requests"): return .json(try await store.requests())
    case ("GET", Route.page): return Answer(status: 200, contentType: "text/html;charset=UTF-8", body: Self.page)
    case ("GET", "\(Route.backstage)/faults"): break
    case ("POST", "\(Route.backstage)/faults"): await faults.add(try Self.fault(body))
    case ("DELETE", "\(Route.backstage)/faults"): await faults.clear()
    case ("DELETE", let path) where path.hasPrefix("\(Route.backstage)/faults/"):
      await faults.clear(path: String(path.dropFirst("\(Route.backstage)/faults/".count)))
    default: return nil
    }
    return .json(["faults": .array(await faults.planned.map(\.json))])
  }

  private static func fault(_ body: [UInt8]) throws -> PlannedFault {
    let fields = try Fields(body: body)
    guard let path = try fields.string("path") else { throw Refusal.format("path is missing") }
    guard let text = try fields.string("fault") else { throw Refusal.format("fault is missing") }
    guard let fault = Fault(text) else { throw Refusal.format("unknown fault \(text); known are \(Fault.help)") }
    let count = try fields.integer("count", as: Int.self)
    if let count, count < 1 { throw Refusal.format("count is less than 1") }
    return PlannedFault(path: path, fault: fault, count: count)
  }
}
