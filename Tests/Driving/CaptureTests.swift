import Foundation
import TestSupport
import Testing

@testable import Driving

/// The lines about captures.
struct CaptureTests {
  @Test("when trouble comes, stays and goes, then it is logged once each time, and counted")
  func trouble() {
    var trouble = CaptureTrouble()
    let lines = [nil, "disk full", "disk full", nil, nil, "no interface", "disk full"].map { trouble.note($0) }
    #expect(
      lines == [
        nil, "the packet capture failed: disk full; the drive goes on, the capture is incomplete", nil,
        "the packet capture works again; packets in between are missing", nil,
        "the packet capture failed: no interface; the drive goes on, the capture is incomplete",
        "the packet capture failed: disk full; the drive goes on, the capture is incomplete",
      ])
    #expect(trouble.count == 3)
  }

  private func summary(files: UInt32, _ change: (inout PacketCapture.State) -> Void = { _ in }, troubles: Int = 0)
    -> CaptureSummary
  {
    var state = PacketCapture.State()
    (state.files, state.written) = (files, 70)
    change(&state)
    return CaptureSummary(
      settings: CaptureSettings(path: "/a/drive", fileCount: 3), state: state, troubles: troubles)
  }

  @Test("when a capture ends, then the line has its files and its losses")
  func summaries() {
    #expect(summary(files: 1).line == "capture: 1 file, /a/drive-0001.pcap; 70 packets, 0 dropped by the kernel")
    let bad = summary(files: 12, { ($0.droppedByKernel, $0.unwritten) = (5, 6) }, troubles: 2)
    #expect(
      bad.line == "capture: 3 files, /a/drive-0010.pcap to /a/drive-0012.pcap (9 older ones were removed); "
        + "70 packets, 5 dropped by the kernel, 6 refused by the disk, 2 times in trouble")
  }

  @Test("when there are files of earlier captures, then only those of this one are listed and counted")
  func later() {
    let one = summary(files: 8, { $0.firstFile = 8 })
    #expect(one.line == "capture: 1 file, /a/drive-0008.pcap; 70 packets, 0 dropped by the kernel")
    let many = summary(files: 12, { $0.firstFile = 8 })
    #expect(many.files == 10...12)
    #expect(many.filesRemoved == 2)
  }

  @Test(
    "when a capture is made under the path of an earlier one, then its number goes on, and the earlier file stays",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func again() throws {
    let folder = try TemporaryFolder()
    let settings = CaptureSettings(path: folder.file("drive"), fileCount: 1)
    var first = try RunningCapture(settings)
    #expect(first.close().files == 1...1)
    let evidence = FileManager.default.contents(atPath: folder.file("drive-0001.pcap"))
    // Names that are nearly those of capture files.
    for name in ["drive-00009.pcap.gz", "drive-99.pcap", "driver-0050.pcap"] {
      _ = try folder.write("", to: name)
    }
    var second = try RunningCapture(settings)
    #expect(second.close().files == 2...2)
    #expect(FileManager.default.contents(atPath: folder.file("drive-0001.pcap")) == evidence)
    #expect(evidence?.isEmpty == false)
  }

  @Test("when a capture cannot be opened, then one line names the error, the file and the remedy")
  func refusals() {
    func line(_ code: CInt, _ text: String) -> String {
      CaptureRefusal(path: "/a/b", error: CaptureError(code: -code, description: text)).description
    }
    #expect(
      line(EPERM, "capturing packets needs CAP_NET_RAW")
        == "--capture /a/b: capturing packets needs CAP_NET_RAW; run it as root or with that capability, "
        + "or leave out --capture")
    #expect(
      line(ENOSPC, "cannot create the capture file /a/b-0001.pcap: No space left on device")
        == "cannot create the capture file /a/b-0001.pcap: No space left on device; make room, or give a name on another disk"
    )
  }

  @Test(
    "when the directory is not there, then the line names the file, and nothing is left behind",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func noDirectory() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: CaptureRefusal.self) {
      try RunningCapture(CaptureSettings(path: folder.file("none/drive")))
    }
    #expect(
      error?.description == "cannot create the capture file \(folder.file("none/drive"))-0001.pcap: "
        + "No such file or directory; make the directory first, or give another name")
  }
}
