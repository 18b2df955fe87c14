import Glibc
import Testing

@testable import SystemServices

/// D-Bus values, as conversations read them.
struct BusValueTests {
  @Test("when a value has another type than requested, then the result is nil or empty")
  func types() {
    let all: [BusValue] = [
      .bool(true), .integer(7), .double(1.5), .string("a"), .list([.integer(1)]), .dictionary(["a": .integer(1)]),
      .other,
    ]
    #expect(all.map { $0.text != nil } == [false, false, false, true, false, false, false])
    #expect(all.map { $0.number != nil } == [false, true, false, false, false, false, false])
    #expect(all.map(\.isTrue) == [true, false, false, false, false, false, false])
    #expect(all.map { $0.list.count } == [0, 0, 0, 0, 1, 0, 0])
    #expect(all.map { $0.dictionary.count } == [0, 0, 0, 0, 0, 1, 0])
    #expect(all.map { $0.real != nil } == [false, true, true, false, false, false, false])
    #expect(!BusValue.integer(1).isTrue && !BusValue.bool(false).isTrue)
  }

  @Test(
    "when a name is empty or ModemManager's sign for unknown, then there is no name; a long name is truncated",
    arguments: [("", nil), ("--", nil), ("A1", "A1"), ("-", "-")] as [(String, String?)])
  func names(text: String, name: String?) {
    #expect(BusValue.string(text).name == name)
    #expect(BusValue.string(String(repeating: "n", count: 1000)).name?.count == 64)
    #expect(BusValue.integer(5).name == nil)
  }

  @Test(
    "when a code is hexadecimal, then it is read as a non-negative 64-bit number",
    arguments: [
      ("1A2B", 0x1A2B), ("ffffffff", 0xFFFF_FFFF), ("7fffffffffffffff", .max), ("8000000000000000", nil), ("-1", nil),
      ("", nil), ("0x10", nil), (" 1", nil),
    ] as [(String, Int64?)])
  func hexadecimal(text: String, number: Int64?) {
    #expect(BusValue.string(text).hexadecimal == number)
  }

  @Test("when a descriptor is duplicated, then the copy is closed with its last owner, and not before")
  func descriptors() throws {
    var ends: [CInt] = [-1, -1]
    try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { close(ends[1]) }
    var copy = BusDescriptor(duplicating: ends[0])
    let same = copy
    #expect(copy != nil && copy == same)
    // The other end sees the connection end when the last copy of this end is closed.
    close(ends[0])
    copy = nil
    var ready = pollfd(fd: ends[1], events: Int16(POLLHUP), revents: 0)
    #expect(poll(&ready, 1, 0) == 0, "another owner is left")
    withExtendedLifetime(same) {}
  }

  @Test("when a descriptor is invalid, then it cannot be duplicated")
  func noDescriptor() {
    #expect(BusDescriptor(duplicating: -1) == nil)
  }

  @Test(
    "when sd-bus returns a negative number, then it is an error with the system's text",
    arguments: [-2, -13, CInt.min])
  func errors(status: CInt) {
    let error = #expect(throws: BusError.self) { try BusError.check(status) }
    #expect(error?.code == status && "\(BusError(code: status))".isEmpty == false)
    #expect("\(BusError(code: -13))" == "Permission denied")
  }

  @Test("when sd-bus returns another number, then the number is the status", arguments: [0, 1, CInt.max])
  func statuses(status: CInt) throws {
    #expect(try BusError.check(status) == status)
  }
}
