import Foundation
import TestSupport
import Testing

/// Clients that ask for HTTP/2 on the way, such as `curl --http2` and Java's.
struct UpgradeTests {
  @Test func `when a client asks for another protocol, then it gets its answer in HTTP 1.1, and the connection ends`()
    async throws
  {
    let tool = try await ControlServerTool()
    let port = try #require(URL(string: tool.url)?.port)
    let request = [
      "POST /RMBTControlServer/ip HTTP/1.1", "Host: lab", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
      "HTTP2-Settings: AAMAAABkAAQAAP__", "Content-Length: 2", "", "{}",
    ].joined(separator: "\\r\\n")
    let client = try RunningProgram(
      URL(filePath: "/bin/bash"),
      ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(request)' >&3; tr -d '\\r' <&3"])
    // Ends with the connection.
    #expect(try await client.exitStatus() == 0)
    let answer = client.standardOutput
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\n"), "\(answer)")
    #expect(answer.lowercased().contains("\nconnection: close\n"), "\(answer)")
    #expect(answer.contains("\"ip\""), "\(answer)")
  }
}
