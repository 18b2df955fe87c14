import Foundation
import Pinging
import TestSupport
import Testing

/// The built `speedtest` against the real tools/measurement-server on loopback.
struct SpeedTestTests {
  private func server(_ arguments: String...) async throws -> (RunningProgram, String) {
    let server = try RunningProgram.product("measurement-server", ["--fault", "slow=2500000"] + arguments)
    return (server, try await server.line(after: "measurement server: "))
  }

  private func run(_ arguments: String...) async throws -> Field.Finished {
    let program = try RunningProgram.product("coverage-probe", ["speedtest"] + arguments)
    let status = try await program.exitStatus()
    return Field.Finished(status: status, output: program.standardOutput, errors: program.standardError)
  }

  @Test("when a server with a secret is tested, then the summary has all figures and the phases are on standard error")
  func summary() async throws {
    let folder = try TemporaryFolder()
    let secret = try folder.write("lab\n", to: "secret")
    let (running, address) = try await server("--http", "--secret", "lab")
    let finished = try await run("--server", address, "--secret-file", secret, "--seconds", "1")
    #expect(finished.status == 0, "\(finished.errors)")
    for name in ["ping ", "download ", "upload "] {
      #expect(finished.output.contains(name) && !finished.output.contains(name + " none"))
    }
    #expect(finished.output.contains("not stored, and not sent to a control server"))
    #expect(finished.errors.contains("speedtest: upload\n"))
    _ = running
  }

  @Test("when the path is silent during a phase, then the line and the JSON say so; without a fault they do not")
  func interruptedPhase() async throws {
    let (running, address) = try await server("--http", "--fault", "stall")
    let finished = try await run("--server", address, "--seconds", "4", "--threads", "2")
    #expect(finished.status == 0, "\(finished.errors)")
    #expect(
      finished.output.contains(" s without a byte; ") && finished.output.contains("interrupted: "), "\(finished.output)"
    )
    let json = try #require(
      try await run("--server", address, "--seconds", "4", "--threads", "2", "--json").lines.first)
    #expect(json["complete"] as? Bool == true && json["interrupted"] as? Bool == true)
    #expect((json["download_measured_percent"] as? Double ?? 100) < 85, "\(json["download_measured_percent"] ?? "-")")
    #expect((json["download_silence_ms"] as? Double ?? 0) >= 1500)
    #expect((json["upload_measured_percent"] as? Double ?? 0) >= 85)
    _ = running
    let (other, intact) = try await server()
    let whole = try await run("--server", intact, "--protocol", "native", "--seconds", "1", "--json")
    #expect(whole.lines.first?["interrupted"] as? Bool == false)
    #expect((whole.lines.first?["upload_measured_percent"] as? Double ?? 0) >= 85, "a short upload is not cut off")
    _ = other
  }

  @Test("when --json is set, then standard output is one object with the points of both directions")
  func json() async throws {
    let (running, address) = try await server()
    let finished = try await run(
      "--server", address, "--protocol", "native", "--seconds", "1", "--threads", "2", "--json")
    #expect(finished.status == 0, "\(finished.errors)")
    let object = try #require(finished.lines.first)
    #expect(finished.lines.count == 1)
    #expect(object["protocol"] as? String == "RMBT" && object["test_num_threads"] as? Int == 2)
    let points = try #require(object["speed_detail"] as? [[String: Any]])
    #expect(Set(points.compactMap { $0["direction"] as? String }) == ["download", "upload"])
    _ = running
  }

  @Test("when the token is refused, then one line says so, and the status is 1")
  func refused() async throws {
    let (running, address) = try await server("--http", "--secret", "lab")
    let finished = try await run("--server", address, "--token", "x_1_y")
    #expect(finished.status == 1 && finished.output.isEmpty)
    #expect(finished.errors.contains("coverage-probe: the server refused the token"))
    _ = running
  }

  @Test(
    "when UDP pings have a token of their address, then they are answered; of another address or secret, not (edge 47)"
  )
  func datagrams() async throws {
    let (running, _) = try await server("--secret", "lab", "--udp-port", "0")
    let port = try #require(try await running.line(after: "UDP ping: ").split(separator: ":").last.map(String.init))
    let now = UInt32(Date().timeIntervalSince1970)
    let here = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 127, 0, 0, 1]
    let elsewhere = Array(here.dropLast()) + [9]
    for (secret, address, status) in [("lab", here, 0), ("lab", elsewhere, 1), ("other", here, 1)] {
      let bytes = PingToken.bytes(secret: Array(secret.utf8), unixSeconds: now, address: address)
      let token = Data(bytes).base64EncodedString()
      let ping = try RunningProgram.product(
        "coverage-probe", ["ping", "127.0.0.1", "--udp", port, "--token", token, "-c", "2", "-i", "0.1"])
      #expect(try await ping.exitStatus() == Int32(status), "\(ping.standardOutput)")
    }
  }

  @Test("when SIGINT comes during a test, then it ends soon with status 1 and its reason")
  func interrupted() async throws {
    let (running, address) = try await server("--http")
    let program = try RunningProgram.product("coverage-probe", ["speedtest", "--server", address, "--seconds", "30"])
    _ = try await eventually("download begins") { program.standardError.contains("speedtest: download\n") ? true : nil }
    program.signal(SIGINT)
    #expect(try await program.exitStatus(within: .seconds(5)) == 1)
    #expect(program.standardError.contains("coverage-probe: aborted"))
    _ = running
  }

  @Test(
    "when options are contradictory or out of range, then the status is 64",
    arguments: [["--insecure"], ["-4", "-6"], ["--threads", "0"]])
  func usage(options: [String]) async throws {
    let program = try RunningProgram.product("coverage-probe", ["speedtest", "--server", "127.0.0.1:1"] + options)
    #expect(try await program.exitStatus() == 64)
  }
}
