import NIOEmbedded
import Testing

@testable import gps_player

@Suite struct PlayerTests {
  private let steps = [0, 50, 99, 100.5].map { second in
    Step(at: second, action: .send(Recording.Piece(at: second, bytes: Array("line\n".utf8), epochs: 1)))
  }

  private func play(speed: Double, began: ContinuousClock.Instant?) async throws -> String {
    let player = Player(steps: steps, startAt: 0, speed: speed, fragments: false, began: began)
    await player.listen(await player.connected(NIOAsyncTestingChannel()), true)
    try await player.play()
    return await player.account
  }

  @Test func `when the recording began before the first listener, then its earlier part is left out`() async throws {
    let account = try await play(speed: 1, began: .now - .seconds(100))
    #expect(account == "played 1 epochs, 5 bytes")
  }

  @Test func `when the recording begins with the first listener, then all of it is played`() async throws {
    #expect(try await play(speed: 1000, began: nil) == "played 4 epochs, 20 bytes")
  }
}
