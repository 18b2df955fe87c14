import Coverage
import OrderedJSON

/// The members of a fence's record that come from the modem; none without one.
enum RadioMembers {
  static func write(_ radio: FenceRadio, to text: inout JSONWriter) {
    let whole = radio.technologies.reduce(Int64(0)) { $0.saturatingAdding(max(0, $1.microseconds)) }
    let shares = radio.technologies.map { stretch in
      JSON.Member(
        stretch.technology ?? Technology.none.name,
        whole > 0 ? JSON.rounded(Double(stretch.microseconds) / Double(whole), places: 3) ?? .null : .null)
    }
    text.member("technology_shares", shares.isEmpty ? nil : .object(shares))
    for level in radio.levels {
      let name = level.quantity.rawValue
      let unit = level.quantity.isPower ? "dbm" : "db"
      text.member(named: "\(name)_min_\(unit)", JSON.rounded(level.minimum, places: 1))
      text.member(named: "\(name)_median_\(unit)", JSON.rounded(level.median, places: 1))
      text.member(named: "\(name)_max_\(unit)", JSON.rounded(level.maximum, places: 1))
    }
    text.member("operator", radio.operatorCode.map(JSON.string))
    text.member("operator_name", radio.operatorName.map(JSON.string))
    text.member("roaming", .bool(radio.isRoaming))
    text.member("cell_changes", .integer(Int64(radio.cellChanges)))
    guard let cell = radio.cell else { return }
    text.member("cell_mcc", cell.countryCode.map(JSON.string))
    text.member("cell_mnc", cell.networkCode.map(JSON.string))
    text.member("cell_area", cell.area.map(JSON.integer))
    text.member("cell_id", cell.identity.map(JSON.integer))
    text.member("cell_pci", cell.physical.map(JSON.integer))
    text.member("cell_channel", cell.channel.map(JSON.integer))
    text.member("cell_bandwidth_khz", cell.bandwidth.map(JSON.integer))
  }
}
