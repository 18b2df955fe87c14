/// An action of the player at a time.
struct Step: Sendable {
  enum Action: Sendable {
    case send(Recording.Piece)
    /// Closes the connections; new ones are accepted.
    case closeConnections
    /// Closes the connections and the port.
    case leave
    /// Opens the port again.
    case comeBack
  }

  let at: Double
  let action: Action
}
