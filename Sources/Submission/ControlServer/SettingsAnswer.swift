import Foundation

/// The control server's answer to a registration (docs/protocol.md, 3.3).
struct SettingsAnswer: Decodable {
  struct Settings: Decodable {
    let uuid: String?
  }

  let settings: [Settings]?

  /// The client UUID to use from now on; `known` when the answer has none.
  /// - Throws: ``ServerFailure/unusableAnswer(_:)`` when there is neither.
  static func clientUUID(_ body: Data, known: String?) throws(ServerFailure) -> String {
    let answer = try? JSONDecoder().decode(SettingsAnswer.self, from: body)
    if let uuid = answer?.settings?.first?.uuid ?? known, !uuid.isEmpty { return uuid }
    throw .unusableAnswer("no client uuid in the answer to /settings")
  }
}
