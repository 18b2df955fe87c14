import CDiskTrace
import Foundation

/// One change that the store made to the files of its folder.
enum DiskEvent {
  /// `file` is a number for each opening. Opening may create the file.
  case open(file: Int64, name: String)
  case write(file: Int64, offset: Int, bytes: Data)
  case truncate(file: Int64, size: Int)
  case sync(file: Int64)
  case remove(name: String)
  case rename(name: String, to: String)
  case link(name: String, to: String)
  case syncFolder
}

/// Records every change to the files of one folder. Syncs there do not wait for a real disk.
final class DiskTrace {
  struct Failed: Error {}
  private let number: UInt64

  /// - Parameter folder: An absolute path without links.
  init(folder: String) throws {
    number = disk_trace_begin(folder)
    guard number != 0 else { throw Failed() }
  }

  deinit { disk_trace_end(number) }

  func set(faults: disk_fault...) { disk_trace_set_faults(number, faults.reduce(0) { $0 | $1.rawValue }) }

  var count: Int { disk_trace_count(number) }

  var events: [DiskEvent] { (0..<count).map { DiskEvent(disk_trace_event(number, $0)) } }
}

extension DiskEvent {
  fileprivate init(_ event: disk_event) {
    let name = event.name.map { String(cString: $0) } ?? ""
    switch event.kind {
    case DISK_OPEN: self = .open(file: event.file, name: name)
    case DISK_WRITE:
      let bytes = UnsafeRawBufferPointer(start: event.bytes, count: Int(event.length))
      self = .write(file: event.file, offset: Int(event.offset), bytes: Data(bytes))
    case DISK_TRUNCATE: self = .truncate(file: event.file, size: Int(event.length))
    case DISK_SYNC: self = .sync(file: event.file)
    case DISK_REMOVE: self = .remove(name: name)
    case DISK_RENAME: self = .rename(name: name, to: event.new_name.map { String(cString: $0) } ?? "")
    case DISK_LINK: self = .link(name: name, to: event.new_name.map { String(cString: $0) } ?? "")
    default: self = .syncFolder
    }
  }
}
