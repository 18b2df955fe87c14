/// The owners of the service names that a connection listens to. Only their signals count.
///
/// The bus writes the sender into each message. A match rule for a service's signals does not keep away a signal that another user of the
/// host sends to this connection alone; such a signal has another sender.
package struct ServiceOwners: Hashable, Sendable {
  /// The bus's own name, which no other connection can have.
  package static let bus = "org.freedesktop.DBus"

  private let services: Set<String>
  private var owners: [String: String] = [:]

  /// - Parameter services: The well-known names of the services.
  package init(_ services: [String]) { self.services = Set(services) }

  /// Records the owner of a name; `nil` or empty: it has no owner.
  package mutating func note(_ name: String, isOwnedBy owner: String?) {
    guard services.contains(name) else { return }
    owners[name] = owner.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// Notes a change of an owner.
  /// - Parameter values: Those of the bus's signal `NameOwnerChanged`: the name, its last owner, its new one.
  package mutating func noteChange(_ values: [BusValue]) {
    guard values.count == 3, let name = values[0].text else { return }
    note(name, isOwnedBy: values[2].text)
  }

  /// Whether a signal counts.
  /// - Parameters:
  ///   - sender: The unique name of the connection that sent it, or that of the bus.
  ///   - interface: Of the signal; those of the bus itself count only from it.
  package func accept(from sender: String, interface: String) -> Bool {
    interface == Self.bus ? sender == Self.bus : owners.values.contains(sender)
  }
}

#if canImport(CSystemd)
  import CSystemd
  import Glibc

  /// A connection to the system bus through libsystemd's sd-bus. Used by one thread only.
  ///
  /// Calls do not block: their answers arrive with the other messages, so that a hung service delays nothing else.
  ///
  /// Signals are passed on only from the bus itself and from the services that the connection was made for (``ServiceOwners``).
  package final class SystemBus<Use: Hashable & Sendable> {
    private let bus: OpaquePointer
    private var awaited: [UInt64: Use] = [:]
    /// The names whose owners were asked for, by the call.
    private var asked: [UInt64: String] = [:]
    private var owners: ServiceOwners

    /// - Parameters:
    ///   - address: The address of another bus, e.g. `unix:path=/run/bus`; `nil`: the host's system bus, or that of
    ///     `DBUS_SYSTEM_BUS_ADDRESS`.
    ///   - services: The well-known names of the services whose signals count.
    /// - Throws: ``BusError`` when there is no bus.
    package init(address: String? = nil, services: [String]) throws(BusError) {
      owners = ServiceOwners(services)
      var opened: OpaquePointer?
      if address != nil {
        try BusError.check(sd_bus_new(&opened))
      } else {
        try BusError.check(sd_bus_open_system(&opened))
      }
      guard let opened else { throw BusError(code: -ENOMEM) }
      bus = opened
      if let address {
        try BusError.check(sd_bus_set_address(bus, address))
        try BusError.check(sd_bus_set_bus_client(bus, 1))
        try BusError.check(sd_bus_start(bus))
      }
      // The bus answers in order: the owner of a service is known before the service answers.
      for service in services { try follow(service) }
    }

    private func follow(_ service: String) throws(BusError) {
      let rule = "type='signal',sender='\(ServiceOwners.bus)',member='NameOwnerChanged',arg0='\(service)'"
      _ = try send(to: ServiceOwners.bus, "/org/freedesktop/DBus", ServiceOwners.bus, "AddMatch", [.string(rule)])
      let cookie = try send(
        to: ServiceOwners.bus, "/org/freedesktop/DBus", ServiceOwners.bus, "GetNameOwner", [.string(service)])
      asked[cookie] = service
    }

    deinit { sd_bus_close_unref(bus) }

    /// What to poll for, and the descriptor.
    /// - Throws: ``BusError`` after the connection has ended.
    package func interest() throws(BusError) -> pollfd {
      let events = try BusError.check(sd_bus_get_events(bus))
      return pollfd(fd: try BusError.check(sd_bus_get_fd(bus)), events: Int16(truncatingIfNeeded: events), revents: 0)
    }

    /// Sends a call. Calls do not start the service that they are for.
    /// - Throws: ``BusError``
    package func send(_ call: BusCall<Use>) throws(BusError) {
      let cookie = try send(to: call.destination, call.path, call.interface, call.member, call.arguments)
      awaited[cookie] = call.purpose
    }

    /// - Returns: The number of the call, which its answer names.
    private func send(
      to destination: String, _ path: String, _ interface: String, _ member: String,
      _ arguments: [BusCall<Use>.Argument]
    ) throws(BusError) -> UInt64 {
      var message: OpaquePointer?
      try BusError.check(sd_bus_message_new_method_call(bus, &message, destination, path, interface, member))
      defer { sd_bus_message_unref(message) }
      try BusError.check(sd_bus_message_set_auto_start(message, 0))
      for argument in arguments { try append(argument, to: message) }
      var cookie: UInt64 = 0
      try BusError.check(sd_bus_send(bus, message, &cookie))
      return cookie
    }

    private func append(_ argument: BusCall<Use>.Argument, to message: OpaquePointer?) throws(BusError) {
      switch argument {
      case .bool(let value):
        var flag: CInt = value ? 1 : 0
        try BusError.check(sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "b")), &flag))
      case .unsigned(var value):
        try BusError.check(sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "u")), &value))
      case .string(let text):
        let status = text.withCString {
          sd_bus_message_append_basic(message, CChar(bitPattern: UInt8(ascii: "s")), $0)
        }
        try BusError.check(status)
      }
    }

    /// The next message that has arrived; `nil` when there is none.
    /// - Throws: ``BusError`` when the connection has ended.
    package func next() throws(BusError) -> BusMessage<Use>? {
      while true {
        var received: OpaquePointer?
        let status = try BusError.check(sd_bus_process(bus, &received))
        guard let received else {
          if status == 0 { return nil }
          continue
        }
        defer { sd_bus_message_unref(received) }
        if let message = translate(received) { return message }
      }
    }

    private func translate(_ message: OpaquePointer) -> BusMessage<Use>? {
      var cookie: UInt64 = 0
      let isReply = sd_bus_message_get_reply_cookie(message, &cookie) >= 0
      if isReply, let service = asked.removeValue(forKey: cookie) {
        // A name without an owner is answered with an error.
        let isError = sd_bus_message_is_method_error(message, nil) > 0
        owners.note(service, isOwnedBy: isError ? nil : values(of: message).first?.text)
        return nil
      }
      if isReply, let purpose = awaited.removeValue(forKey: cookie) {
        guard sd_bus_message_is_method_error(message, nil) > 0 else { return .answer(purpose, values(of: message)) }
        let error = sd_bus_message_get_error(message)?.pointee
        return .failure(
          purpose, name: error?.name.map { String(cString: $0) } ?? "unknown error",
          text: error?.message.map { String(cString: $0) } ?? "")
      }
      guard sd_bus_message_is_signal(message, nil, nil) > 0 else { return nil }
      func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }
      let interface = text(sd_bus_message_get_interface(message))
      guard owners.accept(from: text(sd_bus_message_get_sender(message)), interface: interface) else { return nil }
      let member = text(sd_bus_message_get_member(message))
      let values = values(of: message)
      if interface == ServiceOwners.bus, member == "NameOwnerChanged" { owners.noteChange(values) }
      return .signal(path: text(sd_bus_message_get_path(message)), interface: interface, member: member, values)
    }

    // MARK: Values

    private func values(of message: OpaquePointer) -> [BusValue] {
      var values: [BusValue] = []
      while let value = value(of: message) { values.append(value) }
      return values
    }

    /// The next value in the container that is open; `nil` at its end, and for a broken message.
    private func value(of message: OpaquePointer) -> BusValue? {
      var type: CChar = 0
      var contents: UnsafePointer<CChar>?
      guard sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
      switch UInt8(bitPattern: type) {
      case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(message, type, &text) > 0 else { return nil }
        return .string(text.map { String(cString: $0) } ?? "")
      case UInt8(ascii: "b"): return basic(message, type, CInt(0)).map { .bool($0 != 0) }
      case UInt8(ascii: "y"): return basic(message, type, UInt8(0)).map { .integer(Int64($0)) }
      case UInt8(ascii: "n"): return basic(message, type, Int16(0)).map { .integer(Int64($0)) }
      case UInt8(ascii: "q"): return basic(message, type, UInt16(0)).map { .integer(Int64($0)) }
      case UInt8(ascii: "i"): return basic(message, type, Int32(0)).map { .integer(Int64($0)) }
      case UInt8(ascii: "u"): return basic(message, type, UInt32(0)).map { .integer(Int64($0)) }
      case UInt8(ascii: "x"): return basic(message, type, Int64(0)).map { .integer($0) }
      case UInt8(ascii: "t"): return basic(message, type, UInt64(0)).map { .integer(Int64(clamping: $0)) }
      case UInt8(ascii: "d"): return basic(message, type, Double(0)).map { .double($0) }
      case UInt8(ascii: "h"):
        return basic(message, type, CInt(-1)).map { BusDescriptor(duplicating: $0).map { .descriptor($0) } ?? .other }
      case UInt8(ascii: "v"): return container(message, type, contents)?.first ?? .other
      case UInt8(ascii: "r"), UInt8(ascii: "e"): return container(message, type, contents).map { .list($0) }
      case UInt8(ascii: "a"):
        let isDictionary = contents.map { $0.pointee == CChar(bitPattern: UInt8(ascii: "{")) } ?? false
        return container(message, type, contents).map { isDictionary ? Self.dictionary($0) : .list($0) }
      default:
        return sd_bus_message_skip(message, nil) >= 0 ? .other : nil
      }
    }

    private func basic<Value: BitwiseCopyable>(_ message: OpaquePointer, _ type: CChar, _ start: Value) -> Value? {
      var value = start
      return sd_bus_message_read_basic(message, type, &value) > 0 ? value : nil
    }

    private func container(
      _ message: OpaquePointer, _ type: CChar, _ contents: UnsafePointer<CChar>?
    ) -> [BusValue]? {
      // The contents' text belongs to the message and changes as soon as the container is entered.
      let inside = contents.map { String(cString: $0) }
      guard sd_bus_message_enter_container(message, type, inside) > 0 else { return nil }
      let values = values(of: message)
      guard sd_bus_message_exit_container(message) >= 0 else { return nil }
      return values
    }

    private static func dictionary(_ entries: [BusValue]) -> BusValue {
      var members: [String: BusValue] = [:]
      for case .list(let entry) in entries where entry.count == 2 {
        switch entry[0] {
        case .string(let key): members[key] = entry[1]
        case .integer(let key): members["\(key)"] = entry[1]
        default: break
        }
      }
      return .dictionary(members)
    }
  }
#endif
