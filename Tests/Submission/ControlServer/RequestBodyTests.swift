import Coverage
import Foundation
import TestSupport
import Testing

@testable import Submission

/// The members of each request's body (docs/protocol.md, 3.2 to 3.6).
struct RequestBodyTests {
  private let device = Device(
    model: "probe-rpi5", device: "drive-probe", osVersion: "6.8", language: "de", timezone: "Europe/Vienna",
    softwareVersion: "2.1", softwareVersionCode: 201, softwareRevision: "main-1a2b3c4")

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("when a device registers, then its UUID is empty the first time, and the known one afterwards")
  func settings() throws {
    let first = try object(SettingsRequest(clientUUID: nil, device: device).json.text)
    #expect(first["uuid"] as? String == "")
    #expect(first["terms_and_conditions_accepted"] as? Bool == true)
    #expect(first["terms_and_conditions_accepted_version"] as? Int == 6)
    let second = try object(SettingsRequest(clientUUID: "C", device: device).json.text)
    #expect(second["uuid"] as? String == "C")
  }

  @Test("when a drive begins, then its request has no loop, and the client UUID twice")
  func firstOfADrive() throws {
    let request = CoverageRequest(clientUUID: "C", loopUUID: nil, time: .sampleStart)
    let sent = try object(request.json(device).text)
    #expect(sent["loop_uuid"] == nil)
    #expect((sent["client_uuid"] as? String, sent["uuid"] as? String) == ("C", "C"))
  }

  @Test("when any request is sent, then it describes the device and this program")
  func members() throws {
    let sent = try object(SettingsRequest(clientUUID: nil, device: device).json.text)
    for (key, value) in [
      "type": "MOBILE", "name": "RMBT", "client": "RMBT", "version": "0.3", "product": "coverage-probe",
      "language": "de", "client_language": "de", "softwareVersion": "2.1", "client_software_version": "2.1",
      "client_version": "2.1", "softwareRevision": "main-1a2b3c4",
    ] {
      #expect(sent[key] as? String == value, "\(key)")
    }
    #expect(sent["softwareVersionCode"] as? Int == 201)
    let capabilities = try #require(sent["capabilities"] as? [String: Any])
    #expect((capabilities["classification"] as? [String: Int]) == ["count": 4])
    #expect((capabilities["qos"] as? [String: Bool]) == ["supports_info": true])
    #expect(capabilities["RMBThttp"] as? Bool == true)
  }

  private func fences(_ fences: [Fence]) throws -> [[String: Any]] {
    let result = CoverageResult(
      clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: .seconds(10), fences: fences)
    return try #require(try object(result.json(device).text)["fences"] as? [[String: Any]])
  }

  @Test("when a fence has a modem report, then its signal is the lowest of its technology; other fences have no signal")
  func signal() throws {
    let sent = try fences([.sample(radio: .sample), .sample(), .sample(technology: "3G/UMTS", radio: .sample)])
    #expect(sent.map { $0["signal"] as? Double } == [-111.5, nil, nil])
    #expect(sent[0].keys.sorted() == (Array(sent[1].keys) + ["signal"]).sorted(), "nothing else of it is sent")
  }

  /// The members of a result about the network.
  private func network(_ fences: [Fence]) throws -> [String: String] {
    let result = CoverageResult(
      clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: .seconds(10), fences: fences)
    let members = try object(result.json(device).text)
    return members.filter { $0.key.hasPrefix("telephony") || $0.key == "network_type" }.mapValues { "\($0)" }
  }

  @Test(
    "when fences have reports of the modem, then the result has the network of the last one, the SIM's, and any roaming"
  )
  func network() throws {
    var abroad = FenceRadio.sample
    (abroad.operatorCode, abroad.operatorName, abroad.isRoaming) = ("310260", String(repeating: "é", count: 300), false)
    (abroad.simOperatorCode, abroad.simOperatorName) = ("23201", "Home\u{0}")
    var silent = FenceRadio.sample
    silent.operatorCode = nil
    let sent = try network([
      .sample(radio: .sample), .sample(technology: "5G/NR", radio: abroad), .sample(radio: silent), .sample(),
    ])
    #expect(
      sent == [
        "network_type": "13", "telephony_network_operator": "310-260", "telephony_network_country": "us",
        "telephony_network_operator_name": String(repeating: "é", count: 200), "telephony_network_is_roaming": "1",
        "telephony_network_sim_operator": "232-01", "telephony_network_sim_operator_name": "Home",
        "telephony_network_sim_country": "at",
      ])
  }

  @Test(
    "when no modem reports, then the network type is still that of the first known technology, else of any mobile network"
  )
  func networkType() throws {
    #expect(try network([.sample(technology: nil), .sample(technology: "5G/NR"), .sample()]) == ["network_type": "20"])
    #expect(try network([.sample(technology: nil), .sample(technology: "NONE")]) == ["network_type": "0"])
  }

  /// The members of a result of a test with a UUID.
  private func whole(_ fences: [Fence], retries: Int = 0, cause: String? = nil, address: String? = nil) throws
    -> [String: Any]
  {
    let result = CoverageResult(
      clientUUID: "C", testUUID: "2d0f1c8e-0000-4000-8000-0000000000ff", driveStarted: .sampleStart,
      anchor: .seconds(10), fences: fences, retries: retries, terminationCause: cause,
      localAddress: address)
    return try object(result.json(device).text)
  }

  @Test("when fences have cells, then the result has each cell once, and the lowest levels of each fence in it")
  func radioInfo() throws {
    var other = Self.steady
    var cell = RadioCell()
    (cell.kind, cell.identity) = (.nr, 0xF_0000_0001)
    other.cell = cell
    other.levels = [.init(quantity: .nrRSRP, minimum: -99.6, median: -90, maximum: -80)]
    let info = try #require(
      try whole([
        .sample(entered: 8, radio: Self.steady), .sample(entered: 12, technology: "5G/NR", radio: other), .sample(),
        .sample(entered: 20, radio: Self.steady),
      ])["radioInfo"] as? [String: [[String: Any]]])
    let (cells, signals) = (try #require(info["cells"]), try #require(info["signals"]))
    #expect(cells.map { $0["technology"] as? String } == ["4G", "5G"])
    #expect(cells.map { $0["location_id"] as? Int } == [0x0102_0304, 0xF_0000_0001])
    #expect(cells[0]["mcc"] as? Int == 232 && cells[0]["mnc"] as? Int == 1 && cells[0]["area_code"] as? Int == 0x1A2B)
    #expect(cells[0]["primary_scrambling_code"] as? Int == 123 && cells[0]["channel_number"] as? Int == 1300)
    #expect(cells[0]["active"] as? Bool == true && cells[0]["cell_state"] as? String == "primary")
    let names = cells.compactMap { $0["uuid"] as? String }
    #expect(names == ["2d0f1c8e-0000-4000-8000-0000000000fe", "2d0f1c8e-0000-4000-8000-0000000000fd"])
    #expect(signals.map { $0["cell_uuid"] as? String } == [names[0], names[1], names[0]])
    #expect(signals.map { $0["time_ns"] as? Int } == [-2_000_000_000, 2_000_000_000, 10_000_000_000])
    #expect(signals.map { $0["lte_rsrp"] as? Int } == [-112, nil, -112])
    #expect(signals[1]["nr_ss_rsrp"] as? Int == -100 && signals[1]["network_type_id"] as? Int == 20)
  }

  @Test(
    "when the cell changed within a fence, then its levels are in no cell; those of a searching modem are in none either"
  )
  func handover() throws {
    let info = try #require(try whole([.sample(radio: .sample)])["radioInfo"] as? [String: [[String: Any]]])
    #expect(info["cells"]?.map { $0["location_id"] as? Int } == [0x0102_0304] && info["signals"]?.isEmpty == true)
    var searching = Self.steady
    searching.cell = nil
    #expect(try whole([.sample(technology: nil, radio: searching)])["radioInfo"] == nil)
  }

  /// Without a handover.
  private static var steady: FenceRadio {
    var radio = FenceRadio.sample
    radio.cellChanges = 0
    return radio
  }

  @Test("when fences have cells beside the serving one, then the result has them, and only the serving one is active")
  func environment() throws {
    var radio = Self.steady
    radio.cell?.kind = .lte
    radio.levels.append(.init(quantity: .nrRSRP, minimum: -99.6, median: -90, maximum: -80))
    radio.environment = RadioEnvironment(.sample)
    let fence = Fence.sample(technology: "5G/NRNSA", radio: radio)
    let info = try #require(try whole([fence, fence])["radioInfo"] as? [String: [[String: Any]]])
    let (cells, signals) = (try #require(info["cells"]), try #require(info["signals"]))
    #expect(cells.map { $0["active"] as? Bool } == [true, false, false])
    #expect(cells.map { $0["registered"] as? Bool } == [true, true, false])
    #expect(cells.map { $0["cell_state"] as? String } == ["primary", "secondary", nil])
    #expect(cells.map { $0["technology"] as? String } == ["4G", "5G", "4G"])
    #expect(cells.map { $0["channel_number"] as? Int } == [1300, 632_628, 1300])
    #expect(Set(cells.compactMap { $0["uuid"] as? String }).count == 3)
    #expect(signals.map { $0["timing_advance"] as? Int } == [5, nil, nil, 5, nil, nil])
    #expect(signals.prefix(3).map { $0["lte_rsrp"] as? Int } == [-112, nil, -102])
    #expect(signals.prefix(3).map { $0["nr_ss_rsrp"] as? Int } == [nil, -100, nil])
  }

  @Test(
    "when the technology is not 5G non-standalone, or no level is known, then 5G's cell or the timing advance is left out"
  )
  func partialEnvironment() throws {
    var radio = Self.steady
    radio.cell?.kind = .lte
    radio.levels.append(.init(quantity: .nrRSRP, minimum: -99.6, median: -90, maximum: -80))
    radio.environment = RadioEnvironment(.sample)
    func info(_ fence: Fence) throws -> [String: [[String: Any]]] {
      try #require(try whole([fence])["radioInfo"] as? [String: [[String: Any]]])
    }
    let anchor = try info(.sample(technology: "4G/LTE", radio: radio))
    #expect(anchor["cells"]?.map { $0["technology"] as? String } == ["4G", "4G"])
    radio.levels = []
    radio.environment?.strongest = nil
    let silent = try info(.sample(technology: "5G/NRNSA", radio: radio))
    #expect(silent["cells"]?.count == 2 && silent["signals"]?.isEmpty == true)
  }

  @Test("when no fence has a cell or a level, then there is no radioInfo; nor is there for a test without a UUID")
  func noRadioInfo() throws {
    #expect(try whole([.sample(), .sample(radio: FenceRadio())])["radioInfo"] == nil)
    let result = CoverageResult(
      clientUUID: "C", testUUID: "T", driveStarted: .sampleStart, anchor: .seconds(10),
      fences: [.sample(radio: .sample)])
    #expect(try object(result.json(device).text)["radioInfo"] == nil)
  }

  @Test("when a result was sent before, has an address, or its end has a cause, then it says so")
  func retries() throws {
    let sent = try whole(
      [.sample()], retries: 3, cause: String(repeating: "x", count: 120), address: "fe80::1%wwan0")
    #expect(sent["test_ip_local"] as? String == "fe80::1")
    #expect(sent["submission_retry_count"] as? Int == 3)
    #expect((sent["termination_cause"] as? String)?.count == 100)
    #expect(try whole([.sample()])["termination_cause"] == nil)
  }

  @Test("when the device's texts are longer than the server's columns, then they are cut by code points")
  func widths() throws {
    let long = String(repeating: "e\u{301}", count: 150)
    let device = Device(
      model: long, device: long, osVersion: long, language: "abcdefghijk", timezone: "Europe/Vienna",
      softwareVersion: long, softwareVersionCode: 1, softwareRevision: long)
    let sent = try object(SettingsRequest(clientUUID: nil, device: device).json.text)
    for (key, width) in [
      "os_version": 100, "model": 200, "device": 200, "client_language": 10, "client_version": 10,
      "client_software_version": 100, "softwareRevision": 200,
    ] {
      #expect((sent[key] as? String)?.unicodeScalars.count == width, "\(key)")
    }
  }

  @Test(
    "when a modem reports an invalid operator code, then the code is left out",
    arguments: ["", "1234", "1234567", "23x01", "２３２０１"])
  func badOperator(code: String) throws {
    var radio = FenceRadio.sample
    (radio.operatorCode, radio.operatorName) = (code, nil)
    #expect(try network([.sample(radio: radio)]).keys.sorted() == ["network_type", "telephony_network_is_roaming"])
    (radio.operatorCode, radio.simOperatorCode) = (nil, code)
    #expect(try network([.sample(radio: radio)]).keys.sorted() == ["network_type", "telephony_network_is_roaming"])
  }

  @Test("when fences are sent, then they stay in order of entry, and an open one between them is left out")
  func order() throws {
    let sent = try fences([.sample(entered: 12), .sample(entered: 16, lasted: nil), .sample(entered: 20)])
    #expect(sent.compactMap { $0["offset_ms"] as? Int } == [2000, 10_000])
    #expect(sent.compactMap { $0["duration_ms"] as? Int } == [4000, 4000])
  }

  @Test(
    "when a mean round trip is rounded, then half of a hundredth rounds up; without an answered ping there is no mean",
    arguments: [
      (1, 4_999, 0.0), (1, 5_000, 0.01), (2, 31_680_000, 15.84), (2, 31_690_000, 15.85), (0, 0, nil),
      (1, Int64.max, 9_223_372_036_854.77),
    ] as [(Int, Int64, Double?)])
  func mean(answered: Int, sum: Int64, expected: Double?) throws {
    let sent = try fences([.sample(answered: answered, rttSumNanoseconds: sum)])
    #expect(sent[0]["avg_ping_ms"] as? Double == expected)
  }

  @Test(
    "when the accuracy of a fix is unknown or not positive, then it is absent: 0 would mean a perfect fix",
    arguments: [(nil, nil), (0, nil), (-3, nil), (0.05, 0.1), (12.34, 12.3), (.nan, nil), (.infinity, nil)]
      as [(Double?, Double?)])
  func accuracy(accuracy: Double?, expected: Double?) throws {
    let fix = Fix(coordinate: Coordinate(latitude: 48, longitude: 16), accuracy: accuracy, speed: accuracy)
    let location = try #require(try fences([.sample(fix: fix)])[0]["location"] as? [String: Any])
    #expect(location["accuracy"] as? Double == expected)
    #expect(location["provider"] as? String == "gps")
    #expect(location["altitude"] == nil && location["bearing"] == nil)
  }
}
