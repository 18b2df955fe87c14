import Coverage
import Foundation
import Glibc
import Synchronization

/// The one look-up of names: by the system's resolver, within a time limit.
public enum NameLookUp {
  /// The time limit: that of three name servers which do not answer, 5 s each (resolv.conf(5)).
  public static let limit: Duration = .seconds(15)

  /// The addresses of a name in the system's order of preference, or a numeric address itself. Blocks this thread, for ``limit`` at most.
  /// - Parameters:
  ///   - family: Only addresses of this IP version; `nil`: of both.
  ///   - read: Makes an address of the resolver's entry; those without are left out.
  public static func addresses<Address: Sendable>(
    of name: String, port: UInt16 = 0, family: IPVersion?, _ read: @escaping @Sendable (addrinfo) -> Address?
  ) throws(NameError) -> [Address] {
    // C would read the name up to a zero byte, and packets would go to another host than the name says.
    guard !name.utf8.contains(0) else { throw NameError(name: name, reason: "it has a zero byte") }
    let found = try answer(about: name, within: limit) { () throws(NameError) in
      try ask(name, port, family, read)
    }
    guard !found.isEmpty else { throw NameError(name: name, reason: "it has no address") }
    return found
  }

  /// What `ask` returns on a thread of its own. Nothing can end the system's resolver: after the limit the thread is left to it.
  static func answer<Answer: Sendable>(
    about name: String, within limit: Duration, _ ask: @escaping @Sendable () throws(NameError) -> Answer
  ) throws(NameError) -> Answer {
    let reply = Reply<Answer>()
    Thread.detachNewThread { reply.put(Result(catching: ask)) }
    guard let result = reply.wait(limit) else {
      let reason = "no name server answered within \(limit.inMilliseconds / 1000) s"
      throw NameError(name: name, reason: reason, isTemporary: true)
    }
    return try result.get()
  }

  /// Whether a name server beyond this host says now that a name does not exist, or has no address. A failure says nothing: the relay of a
  /// router without a network fails at once, too.
  public static func isUnknown(_ name: String) async -> Bool {
    guard areDistant(FileManager.default.contents(atPath: "/etc/resolv.conf") ?? Data()) else { return false }
    do throws(NameError) {
      _ = try await onThread { () throws(NameError) in
        try answer(about: name, within: .seconds(1)) { () throws(NameError) in try ask(name, 0, nil) { _ in true } }
      }
      return false
    } catch {
      return error.isUnknown
    }
  }

  /// Whether no name server of a resolv.conf(5) is on this host: one there can know of a name without a network.
  static func areDistant(_ configuration: Data) -> Bool {
    let servers = String(decoding: configuration, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split(whereSeparator: \.isWhitespace)
      return words.first == "nameserver" ? words.dropFirst().first : nil
    }
    return !servers.isEmpty && !servers.contains { $0.hasPrefix("127.") || $0 == "::1" }
  }

  /// Runs a look-up, which blocks its thread.
  static func onThread<Answer: Sendable>(
    _ lookUp: @escaping @Sendable () throws(NameError) -> Answer
  ) async throws(NameError) -> Answer {
    let result: Result<Answer, NameError> = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: Result(catching: lookUp)) }
    }
    return try result.get()
  }

  private static func ask<Address>(
    _ name: String, _ port: UInt16, _ family: IPVersion?, _ read: (addrinfo) -> Address?
  ) throws(NameError) -> [Address] {
    var hints = addrinfo()
    // Without a type, each address would come once for each type of sockets.
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_family = family == nil ? AF_UNSPEC : family == .ipv4 ? AF_INET : AF_INET6
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(name, String(port), &hints, &list)
    guard status == 0 else {
      // EAI_NODATA, which Swift does not import: the name exists, without an address.
      throw NameError(
        name: name, reason: String(cString: gai_strerror(status)), isTemporary: status == EAI_AGAIN,
        isUnknown: status == EAI_NONAME || status == -5)
    }
    defer { freeaddrinfo(list) }
    var (found, next): ([Address], _) = ([], list)
    while let entry = next?.pointee {
      if let address = read(entry) { found.append(address) }
      next = entry.ai_next
    }
    return found
  }
}

/// The answer of one thread to another.
private final class Reply<Answer: Sendable>: Sendable {
  private let isThere = Latch()
  private let result = Mutex<Result<Answer, NameError>?>(nil)

  func put(_ result: Result<Answer, NameError>) {
    self.result.withLock { $0 = result }
    isThere.open()
  }

  /// `nil` when there is none within the limit.
  func wait(_ limit: Duration) -> Result<Answer, NameError>? {
    isThere.wait(nanoseconds: limit.inMilliseconds * 1_000_000)
    return result.withLock { $0 }
  }
}

/// A name cannot be resolved.
public struct NameError: Error, Hashable, CustomStringConvertible {
  public let name: String
  /// The resolver's reason.
  public let reason: String
  /// Whether no name server answered, so that nothing is known of the name.
  public let isTemporary: Bool
  /// Whether a name server said that there is no such name, or none with an address.
  let isUnknown: Bool

  public init(name: String, reason: String, isTemporary: Bool = false) {
    self.init(name: name, reason: reason, isTemporary: isTemporary, isUnknown: false)
  }

  init(name: String, reason: String, isTemporary: Bool, isUnknown: Bool) {
    (self.name, self.reason, self.isTemporary, self.isUnknown) = (name, reason, isTemporary, isUnknown)
  }

  /// One line for the operator.
  public var description: String { "cannot find the address of \(ForeignText.clean(name)): \(reason)" }
}
