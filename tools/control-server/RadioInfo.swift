import Foundation
import GRDB

/// `radioInfo` of a result: serving cells and signals in them, with the types and widths of the real server's columns.
struct RadioInfo: Sendable {
  private struct Row: Sendable {
    let cell: String
    let received: JSONValue
  }

  private let cells: [Row]
  private let signals: [Row]

  init(_ fields: Fields?) throws {
    cells = try (fields?.array("cells") ?? []).map { cell in
      for member in ["mcc", "mnc", "primary_scrambling_code", "channel_number"] {
        _ = try cell.integer(member, as: Int32.self)
      }
      for member in ["location_id", "area_code"] { _ = try cell.integer(member, as: Int64.self) }
      for member in ["active", "registered"] { _ = try cell.bool(member) }
      _ = try cell.string("technology")
      _ = try cell.string("primary_data_subscription", limit: 30)
      _ = try cell.string("cell_state", limit: 15)
      return Row(cell: try cell.required("uuid", cell.uuid("uuid")), received: cell.json)
    }
    signals = try (fields?.array("signals") ?? []).map { signal in
      for member in [
        "bit_error_rate", "network_type_id", "signal", "wifi_link_speed", "lte_rsrp", "lte_rsrq", "lte_rssnr",
        "lte_cqi",
        "nr_ss_rsrp", "nr_ss_rsrq", "nr_ss_sinr", "timing_advance",
      ] { _ = try signal.integer(member, as: Int32.self) }
      _ = try signal.integer("time_ns_last", as: Int64.self)
      _ = try signal.required("time_ns", signal.integer("time_ns", as: Int64.self))
      return Row(cell: try signal.required("cell_uuid", signal.uuid("cell_uuid")), received: signal.json)
    }
  }

  /// Stores the cells and signals of a test. The names of cells are unique among those of all tests.
  func insert(for test: String, in db: Database) throws {
    for cell in cells {
      try db.execute(
        sql: "INSERT INTO radio_cell (uuid, test_uuid, received) VALUES (?, ?, ?)",
        arguments: [cell.cell, test, cell.received.text])
    }
    for signal in signals {
      try db.execute(
        sql: "INSERT INTO radio_signal (cell_uuid, test_uuid, received) VALUES (?, ?, ?)",
        arguments: [signal.cell, test, signal.received.text])
    }
  }

  /// What is stored for a test.
  static func readBack(_ test: String, in db: Database) throws -> JSONValue {
    func list(_ table: String) throws -> JSONValue {
      let rows = try String.fetchAll(
        db, sql: "SELECT received FROM \(table) WHERE test_uuid = ? ORDER BY rowid", arguments: [test])
      return .array(try rows.map { try JSONParser.parse(stored: $0) })
    }
    return ["cells": try list("radio_cell"), "signals": try list("radio_signal")]
  }
}
