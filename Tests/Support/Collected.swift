import Synchronization

/// A list that any thread may append to.
public final class Collected<Element: Sendable>: Sendable {
  private let list = Mutex<[Element]>([])

  public init() {}

  public func append(_ element: Element) { list.withLock { $0.append(element) } }

  public var all: [Element] { list.withLock { $0 } }
}
