import CPinger
import Foundation

/// Writes the probe's packets to pcap files, on its own thread: the Swift face of cpcapture.h.
///
/// A failure of the capture never ends a measurement; ``state`` shows the packets that are missing in the files.
final class PacketCapture: @unchecked Sendable {
  /// The settings of a capture.
  struct Options: Hashable, Sendable {
    /// The beginning of the files' names: `path`-0001.pcap and so on. Numbers continue behind those of earlier captures, whose files stay.
    var path: String
    /// `nil`: all interfaces, including those that appear later.
    var interface: String?
    /// The largest size of a file, in bytes.
    var fileSize: UInt64 = 16 << 20
    /// The largest number of files of this capture; the oldest one is removed for a new one.
    var fileCount: UInt32 = 16
  }

  /// Counters and state of a capture.
  struct State: Hashable, Sendable {
    /// Packets that were captured.
    var packets: UInt64 = 0
    /// Packets that were written to files, including removed ones.
    var written: UInt64 = 0
    /// Packets that the kernel dropped because its buffer was full.
    var droppedByKernel: UInt64 = 0
    /// Packets that the interface dropped, as far as it counts them.
    var droppedByInterface: UInt64 = 0
    /// Packets that could not be written to disk.
    var unwritten: UInt64 = 0
    /// The number of the newest file.
    var files: UInt32 = 0
    /// The number of this capture's first file.
    var firstFile: UInt32 = 1
    /// Why packets cannot be captured or written now; `nil` when they can.
    var trouble: String?

    /// The number of packets that are missing in the files.
    var missing: UInt64 { droppedByKernel + droppedByInterface + unwritten }
  }

  // Guards `capture` and `lastState`. The C functions can be called from any thread, but not during or after the close.
  private let lock = NSLock()
  private var capture: OpaquePointer?
  private var lastState = State()

  /// Opens the capture, which needs CAP_NET_RAW, and the first file.
  /// - Parameter flows: The packets to capture until ``follow(_:)``; can be empty.
  /// - Throws: ``CaptureError`` for a missing privilege, an unknown interface, or a file that cannot be created.
  init(_ options: Options, flows: [CaptureFlow] = []) throws(CaptureError) {
    let raw = try Self.raw(flows)
    var text = [CChar](repeating: 0, count: 400)
    var status: CInt = 0
    options.path.withCString { path in
      (options.interface ?? "any").withCString { interface in
        raw.withUnsafeBufferPointer { flows in
          var wanted = cpcapture_options()
          wanted.path = path
          wanted.interface_name = interface
          wanted.flows = flows.baseAddress
          wanted.flow_count = flows.count
          wanted.file_size = options.fileSize
          wanted.file_count = options.fileCount
          status = cpcapture_open(&wanted, &capture, &text, text.count)
        }
      }
    }
    guard status >= 0, capture != nil else {
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      throw CaptureError(code: status, description: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Captures `flows` from now on, and those of the previous call, so that replies under way are not missed. Returns when the filter is
  /// active: pings that are sent afterwards are captured.
  /// - Throws: ``CaptureError``; the filter is then unchanged.
  func follow(_ flows: [CaptureFlow]) throws(CaptureError) {
    let raw = try Self.raw(flows)
    lock.lock()
    defer { lock.unlock() }
    guard let capture else { throw CaptureError(code: -EBADF, description: "the packet capture is closed") }
    let status = cpcapture_follow(capture, raw, raw.count)
    guard status >= 0 else {
      throw CaptureError(
        code: status, description: "the filter of the packet capture cannot be changed: \(Self.words(status))")
    }
  }

  /// The counters now; after ``close()``, the last ones.
  var state: State {
    lock.withLock {
      guard let capture else { return lastState }
      var raw = cpcapture_state()
      cpcapture_get_state(capture, &raw)
      return Self.state(raw)
    }
  }

  /// Writes the packets under way and completes the file, which takes half a second. A second call only returns the state.
  @discardableResult
  func close() -> State {
    lock.withLock {
      guard let capture else { return lastState }
      var raw = cpcapture_state()
      cpcapture_close(capture, &raw)
      self.capture = nil
      lastState = Self.state(raw)
      return lastState
    }
  }

  deinit { close() }

  private static func raw(_ flows: [CaptureFlow]) throws(CaptureError) -> [cpcapture_flow] {
    var raw: [cpcapture_flow] = []
    for flow in flows { raw.append(try flow.raw()) }
    return raw
  }

  private static func state(_ raw: cpcapture_state) -> State {
    State(
      packets: raw.packets, written: raw.written, droppedByKernel: raw.dropped_by_kernel,
      droppedByInterface: raw.dropped_by_interface, unwritten: raw.unwritten, files: raw.files,
      firstFile: raw.first_file, trouble: raw.error == 0 ? nil : words(raw.error))
  }

  private static func words(_ code: CInt) -> String { String(cString: strerror(-code)) }
}
