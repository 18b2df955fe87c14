import Foundation

/// The tests of the control server's answer to `/qosTestRequest` (docs/protocol.md, 6.4).
struct QoSObjectives: Hashable, Sendable {
  /// The tests, by group and number; not those without a number, repeated ones, those beyond ``most``, and those of types that cannot be run
  /// here, such as `sip`.
  let all: [QoSObjective]

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
    var found = types.flatMap { name, value in
      guard let kind = QoSTestKind(rawValue: name) else { return [QoSObjective]() }
      return (value as? [Any] ?? []).compactMap { ($0 as? [String: Any]).map(QoSParameters.init) }
        .compactMap { QoSObjective(kind, $0) }
    }
    // The number and the type make the order, and so the choice among repeated numbers, the same each time.
    found.sort { ($0.group, $0.uid, $0.kind.rawValue) < ($1.group, $1.uid, $1.kind.rawValue) }
    var seen: Set<Int64> = []
    all = Array(found.filter { seen.insert($0.uid).inserted }.prefix(Self.most))
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
