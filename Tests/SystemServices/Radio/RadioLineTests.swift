import Coverage
import Testing

@testable import SystemServices

/// The lines that the operator's program prints.
struct RadioLineTests {
  private func reading(_ line: String) -> RadioReading? {
    if case .reading(let reading) = RadioLine(line) { reading } else { nil }
  }

  @Test(
    "when a line names a technology, then it counts; no service has several names", arguments: ["", " none ", "NONE"])
  func plain(nothing: String) {
    #expect(reading(" 4G/LTE\r") == RadioReading(technology: Technology("4G/LTE")))
    #expect(reading(nothing) == RadioReading())
    for odd in ["7G", "None", "4g/lte"] { #expect(RadioLine(odd) == .unknown(odd)) }
    #expect(RadioLine(String(repeating: "é", count: 61)) == .unknown(String(repeating: "é", count: 60)))
  }

  @Test("when a line is JSON, then it has the members of a drive log's modem beside the technology")
  func json() throws {
    let line =
      #"{"technology":"5G/NRNSA","registration":"roaming","operator":"23201","signal":{"rsrp":-91.5,"nr_sinr":12},"#
      + #""cell":{"mcc":"232","mnc":"01","id":16909060,"pci":123},"neighbours":[{"pci":7,"rsrp":-101.5,"rsrq":99}],"timing_advance":9,"secondary":[{"kind":"nr","pci":8}]}"#
    let parsed = try #require(reading(line))
    #expect(parsed.technology == Technology("5G/NRNSA"))
    let modem = try #require(parsed.modem)
    #expect(modem.registration == .roaming)
    #expect(modem.signal == [.rsrp: -91.5, .nrSINR: 12])
    #expect(modem.cell?.identity == 16_909_060)
    #expect(modem.neighbours.first?.cell.physical == 7 && modem.neighbours.first?.levels == [.rsrp: -101.5])
    #expect(modem.timingAdvance == 9 && modem.secondaries.map(\.cell.physical) == [8])
  }

  @Test("when JSON has impossible or unknown values, then they are left out, and the rest counts")
  func partly() throws {
    let modem = try #require(
      reading(#"{"technology":"4G/LTE","signal":{"rsrp":-32768,"rsrq":-9,"new":1},"registration":"lost","more":1}"#)?
        .modem)
    #expect(modem.signal == [.rsrq: -9])
    #expect(modem.registration == nil)
  }

  @Test(
    "when JSON is broken or its technology unknown, then the line is unknown as a whole",
    arguments: [#"{"technology":"7G"}"#, #"{"technology":4}"#, "{", #"{"signal":[]}"#, #"{"mask":-1}"#])
  func broken(line: String) {
    #expect(RadioLine(line) == .unknown(line))
  }

  @Test("when JSON names no technology, then there is no service")
  func withoutTechnology() {
    #expect(reading(#"{"registration":"searching"}"#)?.technology == nil)
    #expect(reading(#"{"registration":"searching"}"#)?.modem?.registration == .searching)
  }

  @Test("when JSON has codes of cells and networks that do not exist, then those are absent")
  func reserved() throws {
    let line =
      #"{"technology":"4G/LTE","operator":"2320","cell":{"mcc":"23","mnc":"01","area":16777214,"id":4294967295,"pci":123},"#
      + #""neighbours":[{"id":68719476736,"pci":7},{"kind":"nr","id":68719476734,"area":65534}]}"#
    let modem = try #require(reading(line)?.checked.modem)
    #expect(modem.operatorCode == nil)
    #expect(modem.cell?.countryCode == nil && modem.cell?.networkCode == nil)
    #expect(modem.cell?.area == nil && modem.cell?.identity == nil && modem.cell?.physical == 123)
    #expect(modem.neighbours.map(\.cell.identity) == [nil, 68_719_476_734])
    #expect(modem.neighbours.map(\.cell.area) == [nil, 65_534])
  }
}
