import Coverage
import OrderedJSON

extension Report {
  /// The report as JSON. `report` is the version of the form. Delays are in milliseconds, to the microsecond; shares in
  /// percent, to two decimals. A value that does not exist is absent.
  public var json: JSON {
    .object([
      "report": 2, "made_at": (origin.made?.iso8601).map(JSON.string), "made_by": origin.author.map(JSON.string),
      "program": .string("\(Program.name) \(Program.version)"), "control_server": origin.server.map(JSON.string),
      "receiver": origin.receiver.map(JSON.string),
      "parts": .array(parts.map(\.json)),
      "comparison": comparison.map(json),
    ])
  }

  /// The comparison by place; its `speed_tests` are absent without tests on both sides.
  private func json(_ result: PlaceComparison.Result) -> JSON {
    .object([
      "place_m": JSON.rounded(placeMetres, places: 2),
      "places_first": .integer(Int64(result.places.first)), "places_second": .integer(Int64(result.places.second)),
      "places_matched": .integer(Int64(result.places.matched)),
      "mean_first_ms": result.sums[0].mean.flatMap { JSON.rounded($0 / 1e6, places: 3) },
      "mean_second_ms": result.sums[1].mean.flatMap { JSON.rounded($0 / 1e6, places: 3) },
      "loss_first_percent": result.sums[0].loss.flatMap { JSON.rounded($0 * 100, places: 2) },
      "loss_second_percent": result.sums[1].loss.flatMap { JSON.rounded($0 * 100, places: 2) },
      "findings": .array(findings.map(\.json)), "speed_tests": speedTests?.json,
      "method": .string(Method.comparison.text()),
    ])
  }
}

extension Finding {
  /// Milliseconds, percentage points or Mbit/s, as `unit` says. A probability below 0.0001 has only its bound, `p_below`.
  fileprivate var json: JSON {
    let places = [.loss, .coverage].contains(figure) ? 2 : 3
    return .object(
      JSON.members([
        "figure": .string(figure.rawValue), "verdict": .string(verdict.rawValue), "unit": .string(figure.unit),
        "effect": difference.flatMap { JSON.rounded($0.effect, places: places) },
        "lower": difference.flatMap { JSON.rounded($0.lower, places: places) },
        "upper": difference.flatMap { JSON.rounded($0.upper, places: places) },
        "effective": difference.flatMap { JSON.rounded($0.effective, places: 0) },
      ]) + JSON.probability(difference?.probability, "p") + JSON.probability(corrected, "p_holm")
        + JSON.members(["least": JSON.rounded(least, places: 6)]))
  }
}

extension Percentile {
  fileprivate var json: JSON {
    .object([
      "percent": .integer(Int64(percent)), "ms": .milliseconds(value), "lower_ms": lower.map(JSON.milliseconds),
      "upper_ms": upper.map(JSON.milliseconds), "effective": effective.flatMap { JSON.rounded($0, places: 0) },
    ])
  }
}

extension JSON {
  /// A probability with six decimals, or `KEY_below` for a smaller one than 0.0001: none is written as 0.
  static func probability(_ value: Double?, _ key: String) -> [JSON.Member] {
    guard let value else { return [] }
    if value < 0.0001 { return [Member("\(key)_below", .decimal(units: 1, places: 4))] }
    return JSON.rounded(value, places: 6).map { [Member(key, $0)] } ?? []
  }

  fileprivate static func seconds(_ microseconds: Int64) -> JSON { .decimal(units: microseconds, places: 6) }
}

extension Report.Part {
  fileprivate var json: JSON {
    .object(figuresMembers + figures.breakdown.members + JSON.members(["provenance": provenance?.json]))
  }

  private var figuresMembers: [JSON.Member] {
    JSON.members([
      "title": .string(title), "from": (figures.period?.lowerBound.iso8601).map(JSON.string),
      "to": (figures.period?.upperBound.iso8601).map(JSON.string), "drives": .count(figures.shares.drives),
      "links": .count(figures.breakdown.links.rows.count),
      "logs": .count(figures.logged.logs),
      "equipment": figures.breakdown.facts.equipment.map(\.used).listing,
      "coverage": coverageJSON, "delay": delay, "variation": variation, "loss": lossJSON, "outages": outages,
      "worst": .object([
        "stretches": .array(figures.stretches.worst.map(\.json)), "method": method(.worst),
      ]), "quality": quality, "speed_tests": figures.speedTests.isEmpty ? nil : figures.speedTests.json,
    ])
  }

  /// The text of the footnote, so that a program can pass the meaning on with the figure.
  private func method(_ method: Method) -> JSON { .string(method.text(over: figures.delays)) }

  private var coverageJSON: JSON {
    let (parts, measured, none) = (figures.shares.parts, figures.shares.measured, CoverageShares.Part())
    let rows = Reception.allCases.compactMap { reception in
      parts[reception].map { json($0, named: reception.name, of: reception.isMeasured ? measured : none) }
    }
    return .object([
      "by_technology": .array(rows), "covered": json(figures.shares.covered, named: "covered", of: measured),
      "measured": json(measured, named: "measured", of: measured),
      "total": json(figures.shares.total, named: "total", of: none),
      "covered_way_percent_interval": coverage?.estimate.interval(factor: 100, places: 2),
      "method": method(.coverage),
      "way_method": method(.way),
    ])
  }

  private func json(_ part: CoverageShares.Part, named name: String, of total: CoverageShares.Part) -> JSON {
    let shares = CoverageShares.Percentages(part, of: total)
    return .object([
      "name": .string(name), "fences": .count(part.fences), "way_m": JSON.rounded(part.metres, places: 1),
      "time_s": .seconds(part.microseconds), "pings": .count(part.pings), "pings_ok": .count(part.answered),
      "way_percent": shares.way.flatMap { JSON.rounded($0, places: 2) },
      "time_percent": shares.time.flatMap { JSON.rounded($0, places: 2) },
      "pings_percent": shares.pings.flatMap { JSON.rounded($0, places: 2) },
    ])
  }

  /// `count` is the number of delays behind the percentiles; fewer than `answered` when logs are missing.
  private var delay: JSON {
    .object([
      "population": .string(figures.delays.rawValue), "count": .count(figures.delayCount),
      "answered": .count(figures.sums.answered), "mean_ms": figures.sums.meanMicroseconds.map(JSON.milliseconds),
      "mean_ms_interval": mean?.interval(factor: 1e-3, places: 3),
      "percentiles": .array(percentiles.map(\.json)), "method": method(.delay),
      "interval_method": figures.delays == .singlePings ? method(.interval) : nil,
    ])
  }

  private var variation: JSON {
    let counts = figures.logged.variations
    return .object([
      "pairs": .count(counts.count),
      "percentiles": .array(
        [50, 95].compactMap { percent in
          counts.value(atPercentile: percent).map { Percentile(percent: percent, value: $0).json }
        }), "method": method(.variation),
    ])
  }

  private var lossJSON: JSON {
    let sums = figures.sums
    return .object([
      "pings": .count(sums.pings), "lost": .count(sums.lost),
      "percent": sums.loss.flatMap { JSON.rounded($0 * 100, places: 2) },
      "percent_interval": loss?.interval(factor: 100, places: 2), "late": .count(sums.late),
      "duplicates": .count(sums.duplicates), "unsent": .count(sums.unsent),
      "outside": figures.logged.logs > 0 ? .count(figures.logged.unassigned.outside) : nil,
      "paused": figures.logged.logs > 0 ? .count(figures.logged.unassigned.paused) : nil,
      "longest_run": figures.logged.logs > 0 ? .count(figures.logged.longestLoss) : nil, "method": method(.loss),
    ])
  }

  private var outages: JSON {
    let outages = figures.outages
    return .object([
      "at_least": .bool(figures.hasOutagesOfFences), "count": .count(outages.count),
      "time_s": .seconds(outages.microseconds),
      "longest": outages.longest.map {
        .object([
          "began_at": .string($0.began.iso8601), "link": $0.link.map(JSON.string),
          "latitude": ($0.place?.latitude).flatMap { JSON.rounded($0, places: 7) },
          "longitude": ($0.place?.longitude).flatMap { JSON.rounded($0, places: 7) },
          "time_s": .seconds($0.microseconds), "pings": .count($0.pings),
        ])
      }, "method": method(.outages),
    ])
  }

  /// `logs` is absent when no drive log is there.
  private var quality: JSON {
    let (quality, logged, receiver) = (figures.quality, figures.logged, figures.logged.receiver)
    return .object([
      "accuracy": .array(
        [50, 90, 95, 99].compactMap { percent in
          quality.accuracies.value(atPercentile: percent).map {
            .object(["percent": .count(percent), "m": .decimal(units: $0, places: 3)])
          }
        }),
      "gaps": .count(quality.gaps), "gap_s": .seconds(quality.gapMicroseconds),
      "longest_gap_s": .seconds(quality.longestGap),
      "logs": logged.logs == 0
        ? nil
        : .object([
          "fixes": .count(receiver.fixes), "fixes_refused": .count(receiver.refused),
          "fixes_lost": .count(receiver.lost), "clock_steps": .count(receiver.clockSteps),
          "clock_steps_s": .seconds(receiver.clockStepMicroseconds), "kernel_stamped": .count(logged.kernelStamped),
          "kernel_stamped_percent": logged.delays.count > 0
            ? JSON.rounded(Double(logged.kernelStamped) / Double(logged.delays.count) * 100, places: 2) : nil,
        ]), "method": method(.quality),
    ])
  }
}

extension Stretch {
  fileprivate var json: JSON {
    .object([
      "began_at": .string(began.iso8601), "link": link.map(JSON.string), "fences": .count(fences.count),
      "way_m": JSON.rounded(metres, places: 1),
      "is_long": .bool(isLong),
      "pings": .count(sums.pings), "lost": .count(sums.lost),
      "score_ms": JSON.rounded(score / 1e6, places: 3),
      "latitude": fences.first.flatMap { JSON.rounded($0.centre.latitude, places: 7) },
      "longitude": fences.first.flatMap { JSON.rounded($0.centre.longitude, places: 7) },
    ])
  }
}
