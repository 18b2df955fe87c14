/// A fault, its endpoint, and how often it is applied.
struct PlannedFault: Hashable, Sendable {
  /// An endpoint such as `coverageResult`, or `*` for all.
  let path: String
  let fault: Fault
  /// The number of requests left for it; `nil`: until cleared.
  var count: Int?

  init(path: String, fault: Fault, count: Int? = nil) {
    self.path = path
    self.fault = fault
    self.count = count
  }

  /// Reads the flag `PATH:FAULT[:COUNT]`. The last part is the count if the rest is a fault by itself: `hang:20`
  /// hangs for 20 s on every request, `hang:20:3` on three.
  init?(flag: String) {
    let parts = flag.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return nil }
    path = parts[0]
    if let colon = parts[1].lastIndex(of: ":"), let count = Int(parts[1][parts[1].index(after: colon)...]), count > 0,
      let fault = Fault(String(parts[1][..<colon]))
    {
      self.fault = fault
      self.count = count
    } else if let fault = Fault(parts[1]) {
      self.fault = fault
    } else {
      return nil
    }
  }

  var json: JSONValue { ["path": .string(path), "fault": .string(fault.text), "count": JSONValue(count)] }
}
