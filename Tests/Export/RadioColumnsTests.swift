import Coverage
import TestSupport
import Testing

@testable import Export

/// The modem's report in exports.
struct RadioColumnsTests {
  private func line(_ fence: Fence) throws -> String {
    var text: [UInt8] = []
    let session = Session(number: 0, testUUID: "T1", started: .start, anchor: .seconds(16))
    try ExportFormat.jsonl.export([FenceRecord(fence: fence, session: session, origin: .replay)]) { text += $0 }
    return String(decoding: text, as: UTF8.self)
  }

  @Test("when a fence has a modem report, then shares, signal, operator and cell are flat members with their units")
  func whole() throws {
    let members =
      #""technology_shares":{"4G/LTE":0.75,"NONE":0.25},"rsrp_min_dbm":-111.5,"rsrp_median_dbm":-91.0,"#
      + #""rsrp_max_dbm":-80.5,"operator":"23201","operator_name":"A <Network>","roaming":true,"cell_changes":2,"#
      + #""cell_mcc":"232","cell_mnc":"01","cell_area":6699,"cell_id":16909060,"cell_pci":123,"cell_channel":1300,"#
      + #""cell_bandwidth_khz":20000}"#
    let line = try line(.sample(radio: .sample))
    #expect(line.hasSuffix(members + "\n"), "\(line)")
  }

  @Test("when the modem lists cells beside the serving one, then 5G cell, timing advance and neighbours have columns")
  func environment() throws {
    let line = try line(FenceRecord.whole().fence)
    #expect(
      line.hasSuffix(
        #""nr_cell_pci":31,"nr_cell_channel":632628,"nr_cell_band":"n77/n78","timing_advance":5,"carriers":2,"#
          + #""neighbours":2,"neighbour_dbm":-101.5,"neighbour_pci":123,"neighbour_channel":1300}"# + "\n"), "\(line)")
  }

  @Test("when a fence has no modem report, then its line has none of these members")
  func without() throws {
    #expect(try line(.sample()).hasSuffix(#""pings_duplicate":0}"# + "\n"))
  }

  @Test("when few values are known, then only they are written, in dB if the quantity is no power")
  func little() throws {
    var radio = FenceRadio()
    radio.levels = [.init(quantity: .nrSINR, minimum: 1, median: 2, maximum: 3)]
    let line = try line(.sample(radio: radio))
    #expect(
      line.hasSuffix(
        #""nr_sinr_min_db":1.0,"nr_sinr_median_db":2.0,"nr_sinr_max_db":3.0,"roaming":false,"cell_changes":0}"# + "\n"),
      "\(line)")
  }
}
