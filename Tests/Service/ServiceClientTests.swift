import Foundation
import Settings
import Store
import TestSupport
import Testing

@testable import Service

/// A command that asks a service which is absent, refuses or gives an unusable answer.
struct ServiceClientTests {
  private let folder: TemporaryFolder
  private let configuration: ProbeConfiguration
  private var client: ServiceClient { ServiceClient(configuration: configuration) }
  private var path: String { configuration.servicePath }

  init() throws {
    folder = try TemporaryFolder()
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.file("state")
    configuration.agent.socket = folder.file("a socket 100% für {uns}")
    self.configuration = configuration
  }

  private func answer(_ status: String, _ body: String) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  @Test("when there is no service, then the line says how to start one")
  func absent() async throws {
    let error = await #expect(throws: ServiceUnreachable.self) { try await client.status(asJSON: true) }
    #expect(
      error?.description == "no service answers at \(path); start it with coverage-probe agent, or set agent.socket")
  }

  @Test("when another program has the state directory, then the line names it")
  func held() async throws {
    let store = try DriveStore(
      directory: StateDirectory(path: configuration.stateDirectory), purpose: "another program")
    let error = await #expect(throws: ServiceUnreachable.self) { try await client.send(.stop) }
    let line = try #require(error).description
    #expect(line.hasPrefix("no service answers at \(path), but state directory \(store.directory.path) is in use by "))
    #expect(line.contains("another program"))
  }

  @Test(
    "when the path is no listening socket, then no service answers",
    arguments: ["file", "socket", "folder", "long"])
  func noListener(kind: String) async throws {
    var path = path
    switch kind {
    case "file": try Data("x".utf8).write(to: URL(fileURLWithPath: path))
    case "socket": try RawSocket.leave(at: path)
    case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    default: path = folder.file(String(repeating: "x", count: 300))
    }
    #expect(SocketProbe.obstacle(to: path) == .absent)
    var configuration = configuration
    configuration.agent.socket = path
    let error = await #expect(throws: ServiceUnreachable.self) {
      try await ServiceClient(configuration: configuration).metrics()
    }
    #expect(error?.reason == .absent)
  }

  @Test("when the path of the socket has spaces, percent signs and umlauts, then it is found")
  func strangePath() async throws {
    try RawSocket.answerOnce(at: path, with: answer("200 OK", "start: recording\n\n"))
    #expect(try await client.send(.start) == "start: recording")
  }

  @Test(
    "when the service answers a request, then its HTTP status gives the outcome, and its body the line",
    arguments: [
      ("200 OK", CommandOutcome.done), ("503 Service Unavailable", .kept), ("500 Internal Server Error", .failed),
      ("400 Bad Request", .failed), ("418 I'm a teapot", .failed),
    ])
  func outcome(status: String, expected: CommandOutcome) async throws {
    try RawSocket.answerOnce(at: path, with: answer(status, "so it is\n"))
    let (line, outcome) = try await client.submit(.warm, .forced)
    #expect(line == "so it is")
    #expect(outcome == expected)
  }

  @Test("when the service refuses this user, then the line says which users it accepts")
  func refused() async throws {
    try RawSocket.answerOnce(at: path, with: answer("403 Forbidden", "no"))
    let error = await #expect(throws: ServiceUnreachable.self) { try await client.forget(.session(1)) }
    #expect(error?.description == "the service at \(path) takes commands from root and its own user only")
  }

  @Test(
    "when the answer is cut off, is no HTTP or has no end, then the command fails",
    arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nstart: rec", "220 mail.example ESMTP\r\n"])
  func garbage(answer: String) async throws {
    try RawSocket.answerOnce(at: path, with: answer)
    await #expect(throws: ServiceUnreachable.self) { try await client.send(.start) }
  }

  @Test("when a program that is no service uses the store, then the store's error is thrown")
  func instead() async throws {
    let inUse = StoreError.inUse(directory: configuration.stateDirectory, holder: "coverage-probe record (12)")
    await #expect(throws: inUse) { try await client.ask(instead: inUse) { try await $0.forget(.session(1)) } }
    try RawSocket.answerOnce(at: path, with: answer("403 Forbidden", "no"))
    let error = await #expect(throws: ServiceUnreachable.self) {
      try await client.ask(instead: inUse) { try await $0.forget(.session(1)) }
    }
    #expect(error?.reason == .refused, "a service exists that refuses")
  }

  @Test("when a service has no position, then its status has the programs that hold ports, and stays one JSON object")
  func portHolders() async throws {
    try await ServiceRig.run { rig in
      let plain = try await rig.client.status(asJSON: true)
      let text = try await rig.client.statusWithPortHolders(asJSON: true)
      let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      let ports = try #require(object["port_holders"] as? [String: Any])
      #expect(ports.keys.sorted() == ["hidden_processes", "holders"])
      #expect(!plain.contains("port_holders") && object["state"] as? String == "idle")
      #expect(try await rig.client.statusWithPortHolders(asJSON: false).hasPrefix("idle: "))
    }
  }

  @Test("when a service has a position, or its answer is no JSON, then its status is passed on unchanged")
  func noPortHolders() async throws {
    let fresh = #"{"state":"idle","position":{"latitude":1,"longitude":2,"age_s":0.1},"drives":[]}"#
    for body in [fresh, "no JSON"] {
      try? FileManager.default.removeItem(atPath: path)
      try RawSocket.answerOnce(at: path, with: answer("200 OK", body))
      #expect(try await client.statusWithPortHolders(asJSON: true) == body)
    }
  }
}
