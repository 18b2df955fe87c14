import Coverage
import OrderedJSON
import Store

extension SpeedTestSummary {
  /// The figures of the tests on mobile networks, and those of each technology and of each other link.
  var json: JSON {
    let rows = Reception.allCases.compactMap { reception in
      byTechnology[reception].map { JSON.object([JSON.Member("name", .string(reception.name))] + $0.members) }
    }
    let others = otherLinks.sorted { $0.key < $1.key }.map {
      JSON.object([JSON.Member("name", .string($0.key))] + $0.value.members)
    }
    return .object(
      all.members + [
        JSON.Member("by_technology", .array(rows)), JSON.Member("other_links", .array(others)),
        JSON.Member("method", .string(Method.speedTests.text())),
      ])
  }
}

extension SpeedTestGroup {
  /// The members of a group (docs/report.md, "In JSON"); a quantity without a value is absent.
  fileprivate var members: [JSON.Member] {
    let counts = JSON.members([
      "tests": .integer(Int64(tests)), "completed": .integer(Int64(count(.completed))),
      "failed": .integer(Int64(count(.failed))), "aborted": .integer(Int64(count(.aborted))),
      "interrupted": .integer(Int64(interrupted)),
      "completed_percent": completed.flatMap { JSON.rounded($0 * 100, places: 2) },
      "unsuccessful_percent": unsuccessful.flatMap { JSON.rounded($0 * 100, places: 2) },
    ])
    return counts
      + SpeedTestQuantity.allCases.compactMap { quantity in
        quantiles(of: quantity).map { JSON.Member(quantity.rawValue, $0.json(of: quantity)) }
      }
  }
}

extension Quantiles {
  /// Values are thousandths of the unit, so three decimals write them exactly; the keys end with the unit.
  fileprivate func json(of quantity: SpeedTestQuantity) -> JSON {
    let suffix = quantity.isRate ? "mbps" : "ms"
    let values: [(String, Int64?)] = [
      ("median", median.value), ("lower", median.lower), ("upper", median.upper), ("p10", tenth), ("p90", ninetieth),
      ("min", least),
      ("max", greatest),
    ]
    return .object(
      [JSON.Member("tests", .integer(Int64(count)))]
        + values.compactMap { name, value in
          value.map { JSON.Member("\(name)_\(suffix)", .decimal(units: $0, places: 3)) }
        } + JSON.members(["effective": median.effective.flatMap { JSON.rounded($0, places: 0) }]))
  }
}

extension SpeedTestComparison {
  /// The tests by figure; those that were not made are absent.
  var json: JSON {
    .object(
      Self.quantities.compactMap { quantity in
        tests[quantity].map { JSON.Member("\(quantity.rawValue)_test", $0.json) }
      } + [
        JSON.Member("shared", .integer(Int64(shared))),
        JSON.Member("method", .string(Method.speedTestComparison.text())),
      ])
  }
}

extension RankSum {
  fileprivate var json: JSON {
    .object(
      JSON.members([
        "tests_first": .integer(Int64(first)), "tests_second": .integer(Int64(second)),
        "second_greater_percent": JSON.rounded(secondIsGreater * 100, places: 2),
      ]) + JSON.probability(difference.probability, "p"))
  }
}
