import Foundation

/// What the control server answers to a registration (spec 4.2).
struct SettingsAnswer: Decodable {
  struct Settings: Decodable {
    let uuid: String?
  }

  let settings: [Settings]?

  /// The client UUID to use from now on; the one that is `known` where the answer names none.
  static func clientUUID(_ body: Data, known: String?) throws(ServerFailure) -> String {
    let answer = try? JSONDecoder().decode(SettingsAnswer.self, from: body)
    if let uuid = answer?.settings?.first?.uuid ?? known, !uuid.isEmpty { return uuid }
    throw .unusableAnswer("no client uuid in the answer to /settings")
  }
}
