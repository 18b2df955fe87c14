import CPinger
import Foundation

/// Writes the probe's own packets to pcapng files, on a thread of its own: the Swift face of cpcapture.h.
///
/// Nothing that befalls it ends the measuring; ``state`` tells what is missing in the files.
public final class PacketCapture: @unchecked Sendable {
  public struct Options: Hashable, Sendable {
    /// The files are called `path`-0001.pcapng and so on; numbers go on after those of earlier captures, which stay.
    public var path: String
    /// `nil`: all interfaces, also those to come.
    public var interface: String?
    /// The largest size of a file, in bytes.
    public var fileSize: UInt64 = 16 << 20
    /// So many files of this capture are kept, its oldest are removed.
    public var fileCount: UInt32 = 16

    public init(path: String, interface: String? = nil) {
      self.path = path
      self.interface = interface
    }
  }

  public struct State: Hashable, Sendable {
    /// Captured so far.
    public var packets: UInt64 = 0
    /// In files, removed ones included.
    public var written: UInt64 = 0
    /// Missing because the kernel had no room for them.
    public var droppedByKernel: UInt64 = 0
    /// Missing because the interface dropped them, as far as it says.
    public var droppedByInterface: UInt64 = 0
    /// Missing because the disk refused them.
    public var unwritten: UInt64 = 0
    /// The number of the newest file.
    public var files: UInt32 = 0
    /// The number of this capture's first file; those before are of earlier ones.
    public var firstFile: UInt32 = 1
    /// Why nothing can be captured or written at present; `nil` when all is well.
    public var trouble: String?

    /// Packets that passed and are in no file.
    public var missing: UInt64 { droppedByKernel + droppedByInterface + unwritten }
  }

  // Guards the two below. The C functions may be called from any thread, but not beside or after closing.
  private let lock = NSLock()
  private var capture: OpaquePointer?
  private var lastState = State()

  /// Opens the capture, which needs CAP_NET_RAW, and the first file.
  /// - Parameter flows: What is captured until ``follow(_:)``; may be empty.
  /// - Throws: ``CaptureError``
  public init(_ options: Options, flows: [CaptureFlow] = []) throws(CaptureError) {
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

  /// Captures `flows` from now on, and still those of the call before, so that replies under way are not missed. Returns
  /// when the filter is in place: a ping that is sent after that is captured.
  /// - Throws: ``CaptureError``; then the filter stays as it was.
  public func follow(_ flows: [CaptureFlow]) throws(CaptureError) {
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

  public var state: State {
    lock.withLock {
      guard let capture else { return lastState }
      var raw = cpcapture_state()
      cpcapture_get_state(capture, &raw)
      return Self.state(raw)
    }
  }

  /// Writes what is under way and completes the file, which takes half a second. Calling it again does nothing.
  @discardableResult
  public func close() -> State {
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
