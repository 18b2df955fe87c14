import Foundation

/// The pages of a store's file after the last transaction in its write-ahead log. Read without SQLite, which finds no
/// page when the first one is damaged.
struct StorePages: Sendable {
  private let file: RawFile
  private let log: WriteAheadLog

  init(_ path: String) {
    file = RawFile(path)
    log = WriteAheadLog(path)
  }

  /// Calls `body` with each readable page.
  func forEach(_ body: ([UInt8]) throws -> Void) rethrows {
    for number in 0..<count { if let page = page(number) { try body(page) } }
  }

  private func page(_ number: Int) -> [UInt8]? {
    log.pages[number].map { log.page(at: $0) } ?? file.read(number * StorePage.size, StorePage.size)
  }

  /// The number of pages; later ones in the file may be stale. The log and the first page both have the number: if
  /// they differ, one of them is damaged or missing. Pages can be missing as well.
  private var count: Int {
    let most = max(file.bytes / StorePage.size, (log.pages.keys.max() ?? -1) + 1)
    guard let byLog = log.pageCount else { return most }
    let byFirstPage = page(0).map { $0[28..<32].reduce(0) { $0 << 8 | Int($1) } } ?? 0
    return [byLog, byFirstPage].filter { $0 > 0 && $0 <= most }.max() ?? most
  }
}
