import Foundation

/// The pages of a store's file, as they are after the last transaction that its write-ahead log has. Read without SQLite, which finds
/// none of them when the first one is damaged.
struct StorePages: Sendable {
  private let file: RawFile
  private let log: WriteAheadLog

  init(_ path: String) {
    file = RawFile(path)
    log = WriteAheadLog(path)
  }

  /// Those that can be read.
  func forEach(_ body: ([UInt8]) throws -> Void) rethrows {
    for number in 0..<count { if let page = page(number) { try body(page) } }
  }

  private func page(_ number: Int) -> [UInt8]? {
    log.pages[number].map { log.page(at: $0) } ?? file.read(number * StorePage.size, StorePage.size)
  }

  /// Behind these may be pages that were given back, as they were before. The log's last word and the first page both say how many there
  /// are; when they differ, one of them is damaged.
  private var count: Int {
    let most = max(file.bytes / StorePage.size, (log.pages.keys.max() ?? -1) + 1)
    guard let byLog = log.pageCount else { return most }
    let byFirstPage = page(0).map { $0[28..<32].reduce(0) { $0 << 8 | Int($1) } } ?? 0
    return [byLog, byFirstPage].filter { $0 <= most }.max() ?? most
  }
}
