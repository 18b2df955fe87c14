import Coverage
import Foundation
import OrderedJSON

/// The serving cells of a result, and the signal in them (`radioInfo`; docs/protocol.md, 3.5). Of them the server computes the signal, the
/// cell and the band of a test.
struct RadioInfo {
  /// A cell as far as the server stores it.
  private struct Cell: Hashable {
    let network: String?
    let cell: RadioCell
  }

  private let test: UUID
  private var cells: [Cell] = []
  private var signals: [JSON] = []

  /// - Parameter testUUID: `nil` for text that is no UUID: without one, cells have no names.
  init?(testUUID: String) {
    guard let test = UUID(uuidString: testUUID) else { return nil }
    self.test = test
  }

  /// Adds the signal in a cell. A cell that was added before is not repeated.
  /// - Parameters:
  ///   - cell: As the modem told it; `nil`: unknown.
  ///   - levels: The measured signal in dBm and dB.
  ///   - offset: The time since the test's.
  mutating func add(
    _ cell: RadioCell?, _ technology: Technology?, levels: [SignalQuantity: Double], at offset: Duration
  ) {
    guard cell != nil || !levels.isEmpty else { return }
    let kind = cell?.kind ?? technology?.cellKind
    let seen = Cell(network: kind.map(Self.network), cell: cell ?? RadioCell())
    let index = cells.firstIndex(of: seen) ?? cells.endIndex
    if index == cells.endIndex { cells.append(seen) }
    let signal = Self.signal(levels, technology)
    guard !signal.isEmpty else { return }
    signals.append(
      .object(
        JSON.members([
          "cell_uuid": .string(name(of: index)),
          "network_type_id": technology?.id.map { .integer(Int64($0)) },
          "time_ns": .integer(offset.inMicroseconds.saturatingMultiplied(by: 1000)),
        ]) + signal))
  }

  /// The member of the request; none without a cell.
  var members: [JSON.Member] {
    guard !cells.isEmpty else { return [] }
    let list = cells.enumerated().map { json($0.element, named: name(of: $0.offset)) }
    return JSON.members(["radioInfo": .object(["cells": .array(list), "signals": .array(signals)])])
  }

  private func json(_ cell: Cell, named name: String) -> JSON {
    .object([
      "uuid": .string(name), "active": true, "registered": true, "cell_state": "primary",
      "technology": cell.network.map(JSON.string),
      "mcc": cell.cell.countryCode.flatMap { Int64($0) }.map(JSON.integer),
      "mnc": cell.cell.networkCode.flatMap { Int64($0) }.map(JSON.integer),
      "location_id": cell.cell.identity.map(JSON.integer), "area_code": cell.cell.area.map(JSON.integer),
      "primary_scrambling_code": cell.cell.physical.map(JSON.integer),
      "channel_number": cell.cell.channel.map(JSON.integer),
    ])
  }

  /// The same for the same request, and different from those of all other tests: the server's names of cells are unique.
  private func name(of index: Int) -> String {
    var bytes = test.uuid
    bytes.14 ^= UInt8(truncatingIfNeeded: (index + 1) >> 8)
    bytes.15 ^= UInt8(truncatingIfNeeded: index + 1)
    return UUID(uuid: bytes).uuidString.lowercased()
  }

  private static func network(_ kind: RadioCell.Kind) -> String {
    switch kind {
    case .gsm: "2G"
    case .umts: "3G"
    case .lte: "4G"
    case .nr: "5G"
    }
  }

  /// The levels under the server's names, as whole numbers.
  private static func signal(_ levels: [SignalQuantity: Double], _ technology: Technology?) -> [JSON.Member] {
    func level(_ quantities: SignalQuantity...) -> JSON? {
      quantities.lazy.compactMap { levels[$0] }.first
        .flatMap { Int32(saturating: $0.rounded()) }.map { .integer(Int64($0)) }
    }
    return switch technology?.cellKind {
    case .lte: JSON.members(["lte_rsrp": level(.rsrp), "lte_rsrq": level(.rsrq), "lte_rssnr": level(.sinr)])
    case .nr: JSON.members(["nr_ss_rsrp": level(.nrRSRP), "nr_ss_rsrq": level(.nrRSRQ), "nr_ss_sinr": level(.nrSINR)])
    case .gsm, .umts, nil: JSON.members(["signal": level(.rscp, .rssi)])
    }
  }
}
