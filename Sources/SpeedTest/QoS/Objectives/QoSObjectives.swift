import Foundation

/// The tests of the control server's answer to `/qosTestRequest` (docs/protocol.md, 6.4).
struct QoSObjectives: Hashable, Sendable {
  /// The tests, by group and number.
  let all: [QoSObjective]
  /// Types that cannot be run here, such as `sip`, with the number of their tests. They have no result.
  let unknown: [String: Int]
  /// Tests without a number, repeated ones, and those beyond ``most``.
  let unusable: Int

  /// More tests than this are not run: each has a thread, and a few sockets.
  static let most = 100

  /// - Parameter body: The server's answer: `objectives` has an array of tests for each type.
  /// - Throws: ``SpeedTestError/protocolError(_:)`` when it has no `objectives`, or an `error`.
  init(_ body: Data) throws(SpeedTestError) {
    guard let answer = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] else {
      throw .protocolError("the answer to /qosTestRequest is no JSON object")
    }
    if let errors = answer["error"] as? [Any], let first = errors.first {
      throw .protocolError("the control server refuses QoS tests: \(String("\(first)".prefix(200)))")
    }
    guard let types = answer["objectives"] as? [String: Any] else {
      throw .protocolError("the answer to /qosTestRequest has no objectives")
    }
    self.init(types)
  }

  private init(_ types: [String: Any]) {
    var found: [QoSObjective] = []
    var (unknown, unusable) = ([String: Int](), 0)
    for (name, value) in types.sorted(by: { $0.key < $1.key }) {
      let tests = value as? [Any] ?? []
      guard let kind = QoSTestKind(rawValue: name) else {
        unknown[name] = tests.count
        continue
      }
      for test in tests {
        let objective = (test as? [String: Any]).flatMap { QoSObjective(kind, QoSParameters($0)) }
        if let objective { found.append(objective) } else { unusable += 1 }
      }
    }
    // The number and the type make the order, and so the choice among repeated numbers, the same each time.
    found.sort { ($0.group, $0.uid, $0.kind.rawValue) < ($1.group, $1.uid, $1.kind.rawValue) }
    var seen: Set<Int64> = []
    let single = found.filter { seen.insert($0.uid).inserted }
    all = Array(single.prefix(Self.most))
    self.unknown = unknown
    self.unusable = unusable + found.count - all.count
  }

  /// The tests group by group, ascending.
  var groups: [[QoSObjective]] {
    all.reduce(into: []) { groups, objective in
      if groups.last?.first?.group == objective.group {
        groups[groups.count - 1].append(objective)
      } else {
        groups.append([objective])
      }
    }
  }
}
