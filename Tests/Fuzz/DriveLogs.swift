import Coverage
import Export
import Foundation

@testable import Store

/// Drive logs: read, replayed, exported, submitted.
enum DriveLogs: FuzzTarget {
  static let header = """
    {"drive":1,"started":"2026-11-20T10:00:00.000Z","initial_path":"cellular","parameters":{"minimum_radius":15.0,\
    "accuracy_limit":15.0,"warning_after":3.0,"give_up_after":1800.0,"maximum_duration":14400.0},\
    "pings":{"interval":0.1,"timeout":1.0}}

    """

  static let seeds = [
    header + """
      {"at":0.0,"fix":{"latitude":48.2082,"longitude":16.3738,"accuracy":5.0,"altitude":171.3,"course":87.0,"speed":13.4}}
      {"at":0.1,"ping":{"rtt_ms":31.67,"stamps":"kernel"},"sequence":7}
      {"at":0.2,"ping":{"error":"timeout"},"sequence":8}
      {"at":0.2,"late":{"rtt_ms":1031.67}}
      {"at":0.1,"duplicate":{}}
      {"at":3.5,"radio":"5G/NRNSA"}
      {"at":3.5,"equipment":{"manufacturer":"M","model":"M1","sim":"0123456789abcdef","apn":"internet","bearer":"default","ip_family":"ipv4"}}
      {"at":3.6,"modem":{"mask":49152,"signal":{"rsrp":-91.0},"cell":{"kind":"lte","mcc":"232","mnc":"01","area":6699,"id":16909060},\
      "timing_advance":5,"secondary":[{"kind":"nr","pci":31,"channel":632628,"nr_rsrp":-95.0}],"neighbours":[{"kind":"lte","pci":7,"rsrp":-101.5}]}}
      {"at":3.7,"modem":{"mask":49152,"signal":{"rsrp":-92.0}},"cells":"unchanged"}
      {"at":4.0,"fix":{"latitude":48.2182,"longitude":16.3738,"accuracy":5.0}}
      {"at":6.0,"session":{"test_uuid":"T1","anchor":5.5,"maximum_duration":600.0}}
      {"at":7.0,"clock_set":3600.25}
      {"at":8.0,"session":{"test_uuid":"T2"}}
      {"at":9.0,"path":"wifi"}
      {"at":30.0,"stop":{}}

      """,
    #"{"drive":1,"started":"2026-11-20T10:00:00.000Z"}"# + "\n" + #"{"at":1.0,"fix":null}"# + "\n"
      + #"{"at":2.0,"stop"#,
  ].map { Array($0.utf8) }

  static let words = [
    "{\"at\":", "\"fix\":", "\"ping\":", "\"rtt_ms\":", "\"late\":", "\"duplicate\":", "\"path\":", "\"radio\":",
    "\"session\":",
    "\"clock_set\":", "\"stop\":", "\"anchor\":", "\"maximum_duration\":", "\"sequence\":", "\"started\":",
    "\"parameters\":",
    "\"interval\":", "999999999.0", "-999999999.0", "9999999999.0", "1e308", "3600000.0",
    "294247-01-10T04:00:54.775807Z",
    "999999-12-31T23:59:59Z", "\n",
  ]

  static func run(_ input: [UInt8]) {
    guard let drive = try? RecordedDrive(Data(input)) else { return }
    var parameters = drive.header.parameters ?? Parameters()
    if let pings = drive.header.pings { parameters.pingInterval = pings.interval }
    var engine = Engine(parameters: parameters, path: drive.header.initialPath)
    for event in drive.events.prefix(2000) {
      _ = engine.handle(event)
      _ = EventLine.json(event, beside: []).text
    }
    _ = engine.openFence
    _ = engine.handle(Event(at: engine.now, .stop(.endOfLog)))
    _ = drive.header.json.text
    for fence in engine.fences { _ = Sent.text(fence, of: engine, started: drive.header.started) }
    let records = engine.fences.map {
      FenceRecord(replayed: $0, session: engine.sessions[$0.session], link: drive.header.link)
    }
    for format in ExportFormat.allCases { try? format.export(records) { _ = $0.count } }
    let replay = LogReplay(drive, path: "log")
    // The store may have lost its last fences.
    let known = replay.drive.fences.prefix(2).map {
      FenceMark(number: $0.number, entered: drive.header.started + $0.entered, place: $0.centre, isOpen: false)
    }
    _ = LogReplay(drive, path: "log", known: known, base: drive.header.started).drive
  }
}
