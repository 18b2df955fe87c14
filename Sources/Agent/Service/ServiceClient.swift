import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Speaks with a service that runs on this host.
public struct ServiceClient: Sendable {
  private let path: String

  public init(configuration: ProbeConfiguration) { path = configuration.servicePath }

  /// How the service is.
  /// - Parameter asJSON: For a program; else some lines for a person.
  /// - Throws: ``ServiceUnreachable``
  public func status(asJSON: Bool) async throws(ServiceUnreachable) -> String {
    try await ask("status", .GET, accept: asJSON ? "application/json" : "text/plain", within: .seconds(5)).text
  }

  /// - Returns: A line about what it led to.
  /// - Throws: ``ServiceUnreachable``
  public func send(_ command: ServiceCommand) async throws(ServiceUnreachable) -> String {
    try await ask(command.rawValue, .POST, within: .seconds(15)).text
  }

  /// A resend pass of the service.
  /// - Throws: ``ServiceUnreachable``
  func submit() async throws(ServiceUnreachable) -> (line: String, outcome: CommandOutcome) {
    let (status, text) = try await ask("submit", .POST, within: .seconds(3600))
    return (text, status == .ok ? .done : status == .serviceUnavailable ? .kept : .failed)
  }

  private func ask(
    _ what: String, _ method: HTTPMethod, accept: String = "text/plain", within limit: TimeAmount
  ) async throws(ServiceUnreachable) -> (status: HTTPResponseStatus, text: String) {
    let place = Data(path.utf8).map { byte in
      let isPlain = Character(UnicodeScalar(byte)).isLetter && byte < 128 || (0x30...0x39).contains(byte)
      return isPlain ? String(UnicodeScalar(byte)) : "%" + String(Int(byte) + 0x100, radix: 16).dropFirst()
    }.joined()
    var request = HTTPClientRequest(url: "http+unix://\(place)/\(what)")
    request.method = method
    request.headers = ["Accept": accept, "Host": "localhost"]
    let status: HTTPResponseStatus
    let text: String
    do {
      let response = try await HTTPClient.shared.execute(request, timeout: limit)
      status = response.status
      text = String(buffer: try await response.body.collect(upTo: 1 << 20))
    } catch {
      throw ServiceUnreachable(path: path, isRefused: false)
    }
    guard status != .forbidden else { throw ServiceUnreachable(path: path, isRefused: true) }
    return (status, text.trimmingCharacters(in: .whitespacesAndNewlines))
  }
}

/// There is no service, or not for this user.
public struct ServiceUnreachable: Error, Hashable, CustomStringConvertible {
  let path: String
  let isRefused: Bool

  public var description: String {
    isRefused
      ? "the service at \(path) takes commands from root and its own user only"
      : "no service answers at \(path); start it with \(Program.name) agent, or set agent.socket"
  }
}
