import Foundation
import TestSupport
import Testing

@testable import Driving

/// The files and the state of a capture; ``CaptureWritingTests`` tests its packets.
struct PacketCaptureWritingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func line(_ options: PacketCapture.Options, _ flows: [CaptureFlow] = []) throws -> String {
    try #require(#expect(throws: CaptureError.self) { try PacketCapture(options, flows: flows) }).description
  }

  @Test(
    "when a flow has no address or no port, then the capture is refused, and the line names the cause",
    arguments: [
      (CaptureFlow(.udp(localPort: nil), host: "localhost", port: 1), "localhost is not a numeric address"),
      (CaptureFlow(.icmp(identifier: 1), host: "", port: 0), " is not a numeric address"),
      (CaptureFlow(.udp(localPort: nil), host: "127.0.0.1", port: 0), "a flow is no ping to an address and port"),
    ])
  func flows(flow: CaptureFlow, reason: String) throws {
    #expect(try line(.init(path: folder.file("x")), [flow]) == "packets cannot be captured: \(reason)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test("when a host has a zero byte, then the capture is refused instead of using the part before it")
  func zeroByte() throws {
    let flow = CaptureFlow(.udp(localPort: nil), host: "127.0.0.1\0.x", port: 1)
    #expect(
      try line(.init(path: folder.file("x"), interface: "lo"), [flow])
        == "packets cannot be captured: 127.0.0.1 .x is not a numeric address")
  }

  @Test("when files are smaller than some packets, or have no path, then the capture is refused")
  func options() throws {
    var options = PacketCapture.Options(path: folder.file("x"))
    options.fileSize = 8191
    #expect(try line(options) == "packets cannot be captured: files must be larger than 8 KiB and four packets")
    #expect(try line(.init(path: "")) == "packets cannot be captured: there is no path for the files")
  }

  @Test(
    "when a capture is closed, then its state stays, and it follows no further flows",
    .enabled(if: Surroundings.mayCapture, "capturing packets needs CAP_NET_RAW"))
  func closed() throws {
    // The file of an earlier capture.
    _ = try folder.write("earlier", to: "x-0007.pcap")
    let capture = try PacketCapture(.init(path: folder.file("x"), interface: "lo"))
    #expect((capture.state.firstFile, capture.state.trouble) == (8, nil))
    let last = capture.close()
    #expect(capture.close() == last && capture.state == last)
    let error = #expect(throws: CaptureError.self) { try capture.follow([]) }
    #expect(error?.description == "the packet capture is closed")
    #expect(try String(contentsOfFile: folder.file("x-0007.pcap"), encoding: .utf8) == "earlier")
    let file = try CaptureFile([UInt8](Data(contentsOf: URL(fileURLWithPath: folder.file("x-0008.pcap")))))
    #expect(file.damage == nil && file.packets.isEmpty)
  }
}
