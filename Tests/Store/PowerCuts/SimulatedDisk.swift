import Foundation
import TestSupport

/// A disk with a cache that a power cut empties: only synced data is sure to survive.
///
/// Any part of the data written to a file since its last sync may have reached the disk, in any order, torn between two sectors.
/// A sector that was written twice has its old, its first or its second content: the order of the writes makes no other
/// difference. Each name that was created, changed or removed since the last sync of the folder is either old or new.
/// POSIX allows all of this. File systems that keep an order among these changes lose less.
struct SimulatedDisk {
  fileprivate enum Change {
    case write(offset: Int, bytes: Data)
    case truncate(size: Int)
  }

  private enum NameChange {
    case give(String, to: Int)
    case remove(String)
  }

  fileprivate struct File {
    var durable = Data()
    var pending: [Change] = []
  }

  private var files: [File] = []
  private var durableNames: [String: Int] = [:]
  private var names: [String: Int] = [:]
  private var pendingNames: [NameChange] = []
  /// The files by the numbers of their openings.
  private var openings: [Int64: Int] = [:]

  /// - Parameter files: The durable files at the start, by name.
  init(_ files: [String: Data]) {
    for (name, bytes) in files {
      durableNames[name] = self.files.count
      self.files.append(File(durable: bytes))
    }
    names = durableNames
  }

  mutating func apply(_ event: DiskEvent) {
    switch event {
    case .open(let opening, let name): open(opening, name)
    case .write(let opening, let offset, let bytes):
      change(opening) { $0.pending.append(.write(offset: offset, bytes: bytes)) }
    case .truncate(let opening, let size): change(opening) { $0.pending.append(.truncate(size: size)) }
    case .sync(let opening): change(opening) { $0.sync() }
    case .remove(let name):
      if names.removeValue(forKey: name) != nil { pendingNames.append(.remove(name)) }
    case .rename(let name, let newName):
      guard let file = names.removeValue(forKey: name) else { return }
      names[newName] = file
      pendingNames += [.give(newName, to: file), .remove(name)]
    case .link(let name, let newName):
      guard let file = names[name] else { return }
      names[newName] = file
      pendingNames.append(.give(newName, to: file))
    case .syncFolder:
      durableNames = names
      pendingNames = []
    }
  }

  private mutating func open(_ opening: Int64, _ name: String) {
    if let file = names[name] {
      openings[opening] = file
      return
    }
    openings[opening] = files.count
    names[name] = files.count
    pendingNames.append(.give(name, to: files.count))
    files.append(File())
  }

  private mutating func change(_ opening: Int64, _ change: (inout File) -> Void) {
    if let file = openings[opening] { change(&files[file]) }
  }

  /// The files that a power cut at this moment leaves, by name.
  func afterCut(_ random: inout SeededGenerator) -> [String: Data] {
    var names = durableNames
    let luck = Luck(&random)
    for change in pendingNames where luck.survives(&random) {
      switch change {
      case .give(let name, let file): names[name] = file
      case .remove(let name): names[name] = nil
      }
    }
    return names.mapValues { files[$0].afterCut(&random) }
  }
}

/// The share of unsynced changes that survives a power cut.
private struct Luck {
  private let chance: Double

  init(_ random: inout SeededGenerator) {
    chance = [0, 0.05, 0.5, 0.95, 1].randomElement(using: &random) ?? 0
  }

  func survives(_ random: inout SeededGenerator) -> Bool { .random(in: 0..<1, using: &random) < chance }
}

extension SimulatedDisk.File {
  fileprivate mutating func sync() {
    for change in pending {
      switch change {
      case .write(let offset, let bytes): durable.place(bytes, at: offset)
      case .truncate(let size): durable.resize(size)
      }
    }
    pending = []
  }

  fileprivate func afterCut(_ random: inout SeededGenerator) -> Data {
    var bytes = durable
    guard !pending.isEmpty else { return bytes }
    let luck = Luck(&random)
    let unit = [512, 4096, .max].randomElement(using: &random) ?? 512
    // Half of the cuts lose up to eight of the last changes, even if all others survive.
    let rest = pending.dropLast(
      Bool.random(using: &random) ? 0 : .random(in: 0...min(8, pending.count), using: &random))
    // Space that was allocated to a file and not written holds zeros or old data.
    let filler = Bool.random(using: &random) ? Data(count: 4096) : .noise(4096, &random)
    let growsAlways = Bool.random(using: &random)
    for change in rest {
      switch change {
      case .truncate(let size):
        if luck.survives(&random) { bytes.resize(size) }
      case .write(let offset, let written):
        if growsAlways { bytes.grow(to: offset + written.count, filler: filler) }
        for part in (0..<written.count).parts(of: unit, from: offset) where luck.survives(&random) {
          bytes.grow(to: offset + part.lowerBound, filler: filler)
          bytes.place(written[part], at: offset + part.lowerBound)
        }
      }
    }
    return bytes
  }
}

extension Range<Int> {
  /// The range, split where the offset in the file is a multiple of `unit`.
  /// - Parameter offset: The offset in the file of index 0.
  fileprivate func parts(of unit: Int, from offset: Int) -> [Range<Int>] {
    guard unit < .max else { return [self] }
    var parts: [Range<Int>] = []
    var start = lowerBound
    while start < upperBound {
      let end = Swift.min(upperBound, ((offset + start) / unit + 1) * unit - offset)
      parts.append(start..<end)
      start = end
    }
    return parts
  }
}

extension Data {
  fileprivate mutating func resize(_ size: Int) {
    if size < count { removeLast(count - size) } else { append(Data(count: size - count)) }
  }

  fileprivate mutating func place(_ bytes: Data, at offset: Int) {
    if count < offset + bytes.count { resize(offset + bytes.count) }
    replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  fileprivate mutating func grow(to size: Int, filler: Data) {
    while count < size { append(filler.prefix(size - count)) }
  }

  fileprivate static func noise(_ size: Int, _ random: inout SeededGenerator) -> Data {
    var noise = Data(capacity: size)
    while noise.count < size { Swift.withUnsafeBytes(of: random.next()) { noise.append(contentsOf: $0) } }
    return noise
  }
}
