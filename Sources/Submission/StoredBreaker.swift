import DriveStore
import Foundation

extension CircuitBreaker {
  /// The breaker as the store has it, for whoever wants to know without a ``Sender``.
  /// - Parameter server: The URL of the control server.
  /// - Throws: `DecodingError` when it is damaged, GRDB's `DatabaseError`.
  public static func stored(
    in reader: StoreReader, server: String, policy: Policy = Policy(), clock: SenderClock
  ) throws -> CircuitBreaker {
    guard let text = try reader.breakerMemory(at: server) else { return CircuitBreaker(policy: policy) }
    let memory = try JSONDecoder().decode(Memory.self, from: Data(text.utf8))
    return CircuitBreaker(policy: policy, memory: memory, at: clock.boot(), bootID: clock.bootID)
  }
}
