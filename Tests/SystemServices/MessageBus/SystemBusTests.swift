#if canImport(CSystemd)
  import Foundation
  import TestSupport
  import Testing

  @testable import SystemServices

  /// Calls and messages over a real message bus, which is itself a service.
  struct SystemBusTests {
    enum Purpose: Hashable, Sendable {
      case owner, objects, liveness, match
      case cells(String)
    }

    private typealias Call = BusCall<Purpose>
    private typealias Message = BusMessage<Purpose>

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func call(
      _ purpose: Call.Purpose, _ member: String, _ arguments: [Call.Argument] = []
    ) -> Call {
      Call(
        purpose: purpose, destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus", member: member, arguments: arguments)
    }

    /// The bus also sends each connection its name, as a signal.
    private func isReply(_ message: Message) -> Bool {
      if case .signal = message { false } else { true }
    }

    private func message(_ bus: SystemBus<Purpose>, where isRight: (Message) -> Bool) async throws -> Message {
      try await eventually("the message comes") {
        while let message = try bus.next() { if isRight(message) { return message } }
        return nil
      }
    }

    @Test(
      "when a call is answered, then the answer has its purpose and values: lists, texts, numbers, dictionaries of variants"
    )
    func answers() async throws {
      let daemon = try await PrivateBus(in: folder)
      let bus = try SystemBus<Purpose>(address: daemon.address, services: [])
      try bus.send(Self.call(.owner, "NameHasOwner", [.string("org.freedesktop.DBus")]))
      #expect(try await message(bus) { $0 == .answer(.owner, [.bool(true)]) } == .answer(.owner, [.bool(true)]))
      try bus.send(Self.call(.objects, "ListNames"))
      guard case .answer(.objects, let names) = try await message(bus, where: isReply) else {
        Issue.record("not an answer")
        return
      }
      #expect(names.first?.list.contains(.string("org.freedesktop.DBus")) == true)
      try bus.send(Self.call(.cells("x"), "GetConnectionCredentials", [.string("org.freedesktop.DBus")]))
      guard case .answer(.cells("x"), let values) = try await message(bus, where: isReply) else {
        Issue.record("not an answer")
        return
      }
      let credentials = try #require(values.first?.dictionary)
      #expect(credentials["UnixUserID"] == .integer(Int64(getuid())))
      #expect(credentials["ProcessID"]?.number ?? 0 > 1)
    }

    @Test(
      "when a call fails, then the failure has its purpose, the error's name and text, and later calls are answered")
    func failures() async throws {
      let daemon = try await PrivateBus(in: folder)
      let bus = try SystemBus<Purpose>(address: daemon.address, services: [])
      try bus.send(Self.call(.owner, "GetNameOwner", [.string("org.example.Nothing")]))
      guard case .failure(.owner, let name, let text) = try await message(bus, where: isReply) else {
        Issue.record("not a failure")
        return
      }
      #expect(name == "org.freedesktop.DBus.Error.NameHasNoOwner")
      #expect(text.contains("org.example.Nothing"))
      try bus.send(Self.call(.liveness, "GetId"))
      guard case .answer(.liveness, let values) = try await message(bus, where: isReply) else {
        Issue.record("not an answer")
        return
      }
      #expect(values.first?.text?.count == 32)
    }

    @Test("when a match rule matches a signal, then it arrives with its path, its member and its values")
    func signals() async throws {
      let daemon = try await PrivateBus(in: folder)
      let bus = try SystemBus<Purpose>(address: daemon.address, services: [])
      try bus.send(Self.call(.match, "AddMatch", [.string("type='signal',member='NameOwnerChanged'")]))
      _ = try await message(bus) { $0 == .answer(.match, []) }
      let other = try SystemBus<Purpose>(address: daemon.address, services: [])
      try other.send(Self.call(.owner, "RequestName", [.string("org.example.New"), .unsigned(0)]))
      _ = try await message(other) { $0 == .answer(.owner, [.integer(1)]) }
      let change = try await message(bus) {
        if case .signal(_, _, _, let values) = $0 { values.first == .string("org.example.New") } else { false }
      }
      guard case .signal(let path, let interface, let member, let values) = change else { return }
      #expect((path, interface, member) == ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged"))
      #expect(values.count == 3 && values[1] == .string(""))
    }

    @Test("when there is no bus, or it ends, then an error is thrown")
    func ends() async throws {
      #expect(throws: BusError.self) {
        try SystemBus<Purpose>(address: "unix:path=\(folder.file("nothing"))", services: [])
      }
      #expect("\(BusError(code: -ENOENT))" == "No such file or directory")
      let daemon = try await PrivateBus(in: folder)
      let bus = try SystemBus<Purpose>(address: daemon.address, services: [])
      try await daemon.program.stop()
      await #expect(throws: BusError.self) {
        try await eventually("the connection ends") {
          while try bus.next() != nil {}
          return nil as Void?
        }
      }
    }

    @Test("when a service sends a signal, then it is accepted; the same signal from another connection is dropped")
    func senders() async throws {
      let daemon = try await PrivateBus(in: folder)
      let service = try await Speaker(at: daemon.address, name: "org.example.Service")
      let bus = try SystemBus<Purpose>(address: daemon.address, services: ["org.example.Service"])
      try bus.send(Self.call(.match, "AddMatch", [.string("type='signal',interface='org.example.Things'")]))
      _ = try await message(bus) { $0 == .answer(.match, []) }
      let stranger = try await Speaker(at: daemon.address, name: "org.example.Stranger")
      try await stranger.say("Lie", toEach: true)
      try await stranger.say("Another lie")
      try await service.say("Truth")
      #expect(try await nextThing(bus) == "Truth")
      // The service is started again, as another connection.
      try await service.program.stop()
      let successor = try await Speaker(at: daemon.address, name: "org.example.Service")
      try await stranger.say("Lie", toEach: true)
      try await successor.say("Truth of the successor")
      #expect(try await nextThing(bus) == "Truth of the successor")
    }

    @Test("when the other connection's service is accepted, then its signal arrives: the bus does deliver it")
    func sendersControl() async throws {
      let daemon = try await PrivateBus(in: folder)
      let stranger = try await Speaker(at: daemon.address, name: "org.example.Stranger")
      let bus = try SystemBus<Purpose>(address: daemon.address, services: ["org.example.Stranger"])
      try bus.send(Self.call(.liveness, "GetId"))
      _ = try await message(bus, where: isReply)
      try await stranger.say("Lie", toEach: true)
      #expect(try await nextThing(bus) == "Lie")
    }

    @Test("when values have every type of D-Bus, then each is read, and a number that does not fit is clamped")
    func everyType() async throws {
      let daemon = try await PrivateBus(in: folder)
      let service = try await Speaker(at: daemon.address, name: "org.example.Service")
      let bus = try SystemBus<Purpose>(address: daemon.address, services: ["org.example.Service"])
      try bus.send(Self.call(.match, "AddMatch", [.string("type='signal',interface='org.example.Things'")]))
      _ = try await message(bus) { $0 == .answer(.match, []) }
      try await service.sayEveryType()
      try await service.say("the next one")
      let values: [BusValue] = [
        .integer(255), .integer(-1 << 15), .integer(65_535), .integer(-1 << 31), .integer(4_294_967_295),
        .integer(.min), .integer(.max), .double(1.5), .bool(true), .string("/a"), .string("s"),
        .list([.string("b"), .integer(2)]), .dictionary(["k": .integer(3)]), .dictionary(["4": .string("c")]),
        .list([.string("d")]), .integer(5),
      ]
      let said = try await message(bus) {
        if case .signal(_, "org.example.Things", _, _) = $0 { true } else { false }
      }
      #expect(said == .signal(path: "/org/example", interface: "org.example.Things", member: "Said", values))
      #expect(try await nextThing(bus) == "the next one")
    }

    private func nextThing(_ bus: SystemBus<Purpose>) async throws -> String? {
      let message = try await message(bus) {
        if case .signal(_, "org.example.Things", _, _) = $0 { true } else { false }
      }
      guard case .signal(_, _, _, let values) = message else { return nil }
      return values.first?.text
    }
  }
#endif
