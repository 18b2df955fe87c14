import Foundation
import TestSupport
import Testing

@testable import SystemServices

/// The conversation with logind, as a value.
struct SleepConversationTests {
  private var conversation = SleepConversation()
  private let start = ContinuousClock.now

  private static func prepare(_ begins: Bool) -> SleepConversation.Message {
    .signal(
      path: SleepConversation.path, interface: SleepConversation.manager, member: "PrepareForSleep", [.bool(begins)])
  }

  private static func owner(_ name: String) -> SleepConversation.Message {
    .signal(
      path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
      [.string(SleepConversation.service), .string(""), .string(name)])
  }

  private static func lock() throws -> BusDescriptor {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return try #require(BusDescriptor(duplicating: descriptor))
  }

  private mutating func handle(_ message: SleepConversation.Message) -> [SleepConversation.Call] {
    conversation.handle(message, at: start)
  }

  @Test("when the bus is connected, then logind is asked for a lock that delays sleep, and for its signal")
  mutating func connected() {
    let calls = conversation.connected(at: start)
    #expect(calls.map(\.member) == ["AddMatch", "AddMatch", "Inhibit"])
    #expect(calls.last?.destination == "org.freedesktop.login1")
    #expect(calls.last?.arguments.first == .string("sleep"))
    #expect(calls.last?.arguments.last == .string("delay"))
  }

  @Test("when the host sleeps, then the lock is handed over once; when it wakes, then the next lock is requested")
  mutating func sleeps() throws {
    let lock = try Self.lock()
    _ = conversation.connected(at: start)
    #expect(handle(.answer(.inhibit, [.descriptor(lock)])).isEmpty)
    #expect(conversation.delaysSleep)
    #expect(handle(Self.prepare(true)).isEmpty)
    #expect(handle(Self.prepare(true)).isEmpty)
    #expect(conversation.drainNews() == [.sleeping(lock: lock)])
    #expect(!conversation.delaysSleep)
    #expect(handle(Self.prepare(false)).map(\.member) == ["Inhibit"])
    #expect(handle(Self.prepare(false)).isEmpty)
    #expect(conversation.drainNews() == [.awake])
  }

  @Test("when a lock comes during the sleep, then it is dropped")
  mutating func lateLock() throws {
    _ = conversation.connected(at: start)
    _ = handle(Self.prepare(true))
    _ = handle(.answer(.inhibit, [.descriptor(try Self.lock())]))
    #expect(!conversation.delaysSleep)
    #expect(conversation.drainNews() == [.sleeping(lock: nil)])
  }

  @Test("when logind refuses or gives no lock, then a line says so, and sleep is still announced")
  mutating func refused() {
    _ = conversation.connected(at: start)
    _ = handle(.failure(.inhibit, name: "org.freedesktop.DBus.Error.AccessDenied", text: "Permission denied"))
    #expect(conversation.drainNotes() == ["logind cannot delay sleep for this program: Permission denied"])
    _ = handle(.answer(.inhibit, []))
    #expect(conversation.drainNotes() == ["logind's answer has no lock; sleep is not delayed"])
    _ = handle(Self.prepare(true))
    #expect(conversation.drainNews() == [.sleeping(lock: nil)])
  }

  @Test("when logind does not answer for 10 s, then one line says so")
  mutating func hung() {
    _ = conversation.connected(at: start)
    #expect(conversation.nextDeadline == start + .seconds(10))
    conversation.tick(at: start + .seconds(9))
    #expect(conversation.drainNotes().isEmpty)
    conversation.tick(at: start + .seconds(10))
    conversation.tick(at: start + .seconds(20))
    #expect(conversation.drainNotes() == ["logind does not answer; sleep is not delayed"])
    #expect(conversation.nextDeadline == nil)
  }

  @Test("when logind or the bus ends during a sleep, then the drive goes on; a new logind is asked for a lock")
  mutating func ends() throws {
    _ = conversation.connected(at: start)
    _ = handle(.answer(.inhibit, [.descriptor(try Self.lock())]))
    #expect(handle(Self.owner("")).isEmpty)
    #expect(!conversation.delaysSleep)
    #expect(handle(Self.owner(":1.9")).map(\.member) == ["Inhibit"])
    #expect(conversation.drainNews().isEmpty)
    _ = handle(Self.prepare(true))
    _ = handle(Self.owner(""))
    #expect(conversation.drainNews() == [.sleeping(lock: nil), .awake])
    _ = handle(Self.prepare(true))
    conversation.disconnected()
    #expect(conversation.drainNews() == [.sleeping(lock: nil), .awake])
  }
}
