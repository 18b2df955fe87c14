import Coverage
import Foundation
import OrderedJSON

/// The cells of a result, and the signal in them (`radioInfo`; docs/protocol.md, 3.5). Of the active ones the server computes the signal, the
/// cell and the band of a test.
struct RadioInfo {
  /// A cell as far as the server stores it.
  private struct Cell: Hashable {
    let network: String?
    let cell: RadioCell
    let role: Role
  }

  /// What a cell is for the device. Of an active cell, the server takes its band and channel as the test's: only the primary one is active.
  private enum Role: String {
    case primary, secondary, neighbour
  }

  private let test: UUID
  private var cells: [Cell] = []
  private var signals: [JSON] = []

  /// - Parameter testUUID: `nil` for text that is no UUID: without one, cells have no names.
  init?(testUUID: String) {
    guard let test = UUID(uuidString: testUUID) else { return nil }
    self.test = test
  }

  /// Adds the signal in a cell, and the cells beside it. A cell that was added before is not repeated.
  /// - Parameters:
  ///   - cell: As the modem told it; `nil`: unknown.
  ///   - levels: The measured signal in dBm and dB.
  ///   - environment: Timing advance, which only goes with a level; the secondary cell, only in 5G non-standalone; the strongest neighbour.
  ///   - offset: The time since the test's.
  mutating func add(
    _ cell: RadioCell?, _ technology: Technology?, levels: [SignalQuantity: Double],
    environment: RadioEnvironment? = nil, at offset: Duration
  ) {
    // A modem that searches has levels, and no technology: nothing serves it.
    guard cell != nil || !levels.isEmpty && technology?.cellKind != nil else { return }
    let time = JSON.members([
      "network_type_id": technology?.id.map { .integer(Int64($0)) },
      "time_ns": .integer(offset.inMicroseconds.saturatingMultiplied(by: 1000)),
    ])
    let advance = JSON.members(["timing_advance": environment?.timingAdvance.map(JSON.integer)])
    let kind = technology?.cellKind
    // After a handover within a fence, its last cell can be of another technology than its levels.
    let isOfCell = cell?.kind == nil || cell?.kind == kind
    let signal = isOfCell ? Self.signal(levels, kind) : []
    add(cell ?? RadioCell(), cell?.kind ?? kind, .primary, time, signal.isEmpty ? [] : signal + advance)
    // In a result of another technology, the server would count the 5G cell as the test's.
    if let secondary = environment?.secondary, technology?.generation == .fiveNonStandalone {
      add(secondary, .nr, .secondary, time, Self.signal(levels, .nr))
    }
    if let other = environment?.strongest {
      let kind = other.cell.kind ?? kind
      add(other.cell, kind, .neighbour, time, Self.signal(other.levels, kind))
    }
  }

  private mutating func add(
    _ cell: RadioCell, _ kind: RadioCell.Kind?, _ role: Role, _ time: [JSON.Member], _ signal: [JSON.Member]
  ) {
    let seen = Cell(network: kind.map(Self.network), cell: cell, role: role)
    let index = cells.firstIndex(of: seen) ?? cells.endIndex
    if index == cells.endIndex { cells.append(seen) }
    guard !signal.isEmpty else { return }
    signals.append(.object([JSON.Member("cell_uuid", .string(name(of: index)))] + time + signal))
  }

  /// The member of the request; none without a cell.
  var members: [JSON.Member] {
    guard !cells.isEmpty else { return [] }
    let list = cells.enumerated().map { json($0.element, named: name(of: $0.offset)) }
    return JSON.members(["radioInfo": .object(["cells": .array(list), "signals": .array(signals)])])
  }

  private func json(_ cell: Cell, named name: String) -> JSON {
    .object([
      "uuid": .string(name), "active": .bool(cell.role == .primary), "registered": .bool(cell.role != .neighbour),
      "cell_state": cell.role == .neighbour ? nil : .string(cell.role.rawValue),
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
  private static func signal(_ levels: [SignalQuantity: Double], _ kind: RadioCell.Kind?) -> [JSON.Member] {
    func level(_ quantities: SignalQuantity...) -> JSON? {
      quantities.lazy.compactMap { levels[$0] }.first
        .flatMap { Int32(saturating: $0.rounded()) }.map { .integer(Int64($0)) }
    }
    return switch kind {
    case .lte: JSON.members(["lte_rsrp": level(.rsrp), "lte_rsrq": level(.rsrq), "lte_rssnr": level(.sinr)])
    case .nr: JSON.members(["nr_ss_rsrp": level(.nrRSRP), "nr_ss_rsrq": level(.nrRSRQ), "nr_ss_sinr": level(.nrSINR)])
    case .gsm, .umts, nil: JSON.members(["signal": level(.rscp, .rssi)])
    }
  }
}
