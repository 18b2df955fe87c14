import Coverage
import OrderedJSON

extension Breakdown {
  /// The members of a part of a report: its groups, the pieces of the distance, the signal, and what is known of the drives.
  var members: [JSON.Member] {
    let method = JSON.string(Method.groups.text())
    return JSON.members([
      "groups": .object([
        "by_technology": .array(technologies.rows.map(Self.json)), "by_link": .array(links.rows.map(Self.json)),
        "by_area": areas.rows.isEmpty ? nil : .array(areas.rows.map(Self.json)), "method": method,
      ]),
      "way": .array(ways.map(Self.json)),
      "way_more_links": links.rows.count > ways.count ? .count(links.rows.count - ways.count) : nil,
      "signal": .array(signal.boxes.map(Self.json)),
      "bands": bands.rows.isEmpty
        ? nil
        : .object([
          "by_band": .array(bands.rows.map(Self.json)),
          "method": .string(Method.bands.text()),
        ]),
      "facts": facts.json,
    ])
  }

  private static func json(_ name: String, _ group: FenceGroup) -> JSON {
    let (metres, sums) = (group.metres, group.sums)
    return .object([
      "name": .string(name), "fences": .count(group.fences),
      "measured_m": JSON.rounded(metres.measured, places: 1), "silent_m": JSON.rounded(metres.silent, places: 1),
      "silent_percent": group.silentShare.flatMap { JSON.rounded($0 * 100, places: 2) },
      "silent_percent_interval": group.silence?.interval(factor: 100, places: 2),
      "pings": .count(sums.pings), "failed": .count(sums.lost),
      "failed_percent": sums.loss.flatMap { JSON.rounded($0 * 100, places: 2) },
      "failed_percent_interval": group.loss?.interval(factor: 100, places: 2),
      "mean_ms": sums.meanMicroseconds.map(JSON.milliseconds), "binned": .count(group.delays.count),
      "p50_ms": group.delays.value(atPercentile: 50).map(JSON.milliseconds),
      "p95_ms": group.delays.value(atPercentile: 95).map(JSON.milliseconds),
    ])
  }

  private static func json(_ key: BandGroups.Key, _ row: BandGroups.Row) -> JSON {
    func median(_ levels: Distribution) -> JSON? {
      levels.value(atPercentile: 50).map { .decimal(units: $0, places: 1) }
    }
    let (carriers, advance) = (row.carriers.mostFrequent, row.timingAdvance.range)
    return .object([
      "technology": .string(key.reception.name), "band": key.band.map(JSON.string),
      "is_secondary": .bool(key.isSecondary),
      "fences": .count(row.fences), "time_s": .decimal(units: row.microseconds, places: 6),
      "signal_dbm": median(row.signal), "rssi_dbm": median(row.rssi),
      "secondary_signal_dbm": median(row.secondarySignal),
      "carriers": carriers.map { .integer($0.value) }, "carriers_fences": carriers.map { .count($0.times) },
      "neighbours_mean": row.neighbours.mean.flatMap { JSON.rounded($0, places: 2) },
      "neighbour_dbm": median(row.strongest), "timing_advance_min": advance.map { .integer($0.lowerBound) },
      "timing_advance_max": advance.map { .integer($0.upperBound) },
    ])
  }

  private static func json(_ link: String, _ profile: WayProfile) -> JSON {
    .object([
      "link": .string(link), "distance_m": JSON.rounded(profile.metres, places: 1),
      "piece_m": JSON.rounded(profile.length, places: 0),
      "pieces": .array(
        profile.pieces.map { piece in
          .object([
            "pings": .count(piece.pings), "pings_ok": .count(piece.answered),
            "mean_ms": piece.meanMicroseconds.map(JSON.milliseconds),
          ])
        }),
    ])
  }

  private static func json(_ key: SignalLevels.Key, _ fences: Int, _ levels: [Double]) -> JSON {
    let percentiles = zip(SignalLevels.percents, levels).map { percent, level in
      JSON.Member("p\(percent)_dbm", JSON.rounded(level, places: 1) ?? .null)
    }
    return .object(
      JSON.members([
        "technology": .string(key.reception.name), "quantity": .string(key.quantity.rawValue), "fences": .count(fences),
      ]) + percentiles)
  }
}

extension DriveFacts {
  fileprivate var json: JSON {
    .object([
      "operators": Self.json(operators), "sim_operators": Self.json(simOperators),
      "roaming_fences": .count(roaming),
      "clocks": clocks.isEmpty ? nil : .array(clocks.sorted().map(JSON.string)),
      "targets": targets.isEmpty ? nil : .array(targets.sorted().map(JSON.string)),
    ])
  }

  private static func json(_ counts: [String: Int]) -> JSON? {
    counts.isEmpty
      ? nil
      : .array(
        counts.sorted { $0.key < $1.key }.map { .object(["name": .string($0.key), "fences": .count($0.value)]) })
  }
}

extension Estimate {
  /// Its interval, in a unit that is smaller by `factor`, with the number of independent samples.
  func interval(factor: Double, places: Int) -> JSON {
    .object([
      "lower": JSON.rounded(lower * factor, places: places), "upper": JSON.rounded(upper * factor, places: places),
      "effective": JSON.rounded(effective, places: 0),
    ])
  }
}

extension JSON {
  static func milliseconds(_ microseconds: Int64) -> JSON { .decimal(units: microseconds, places: 3) }
}
