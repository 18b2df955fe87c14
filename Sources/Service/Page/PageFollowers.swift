import Synchronization

/// Limits the number of browsers that follow the live page.
final class PageFollowers: Sendable {
  private let count = Mutex(0)
  private let most: Int

  init(most: Int) { self.most = most }

  /// A place, released with its last reference; `nil` when all places are taken.
  func place() -> Place? {
    let isFree = count.withLock { count in
      guard count < most else { return false }
      count += 1
      return true
    }
    return isFree ? Place(self) : nil
  }

  /// The right of one browser to follow; its end makes room for another one.
  final class Place: Sendable {
    private let followers: PageFollowers

    fileprivate init(_ followers: PageFollowers) { self.followers = followers }

    deinit { followers.count.withLock { $0 -= 1 } }
  }
}
