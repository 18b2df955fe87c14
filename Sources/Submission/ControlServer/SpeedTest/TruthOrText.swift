/// A truth value that some servers send as text or number.
struct TruthOrText: Decodable {
  /// `nil` for a value that is no truth value.
  let value: Bool?

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let truth = try? container.decode(Bool.self) {
      value = truth
    } else if let text = try? container.decode(String.self) {
      value = ["true": true, "1": true, "false": false, "0": false][text.lowercased()]
    } else {
      value = (try? container.decode(Int64.self)).flatMap { [0: false, 1: true][$0] }
    }
  }
}
