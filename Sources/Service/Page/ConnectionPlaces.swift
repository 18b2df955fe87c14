/// Which connections to a server stay when a peer, or all peers together, have too many. A pure value.
///
/// A new connection gets a place as long as another one has not shown that it belongs here: strangers who only hold connections open
/// lock nobody out.
struct ConnectionPlaces<Peer: Hashable & Sendable>: Sendable {
  private struct Place {
    let id: ObjectIdentifier
    let peer: Peer
    var isTrusted = false
  }

  /// Of all peers together.
  let most: Int
  /// Of one peer, without its trusted ones.
  let mostOfPeer: Int
  /// The oldest one first.
  private var places: [Place] = []

  init(most: Int, mostOfPeer: Int) { (self.most, self.mostOfPeer) = (most, mostOfPeer) }

  var count: Int { places.count }

  /// Gives a new connection a place.
  /// - Returns: The connection to close for it: the oldest one of this peer, or of the peer that has most. The new one itself when all
  ///   others are trusted; `nil` when there is room.
  mutating func open(_ id: ObjectIdentifier, from peer: Peer) -> ObjectIdentifier? {
    places.append(Place(id: id, peer: peer))
    let counts = places.reduce(into: [Peer: Int]()) { $0[$1.peer, default: 0] += $1.isTrusted ? 0 : 1 }
    let highest = counts.values.max()
    let victim: Place? =
      if counts[peer, default: 0] > mostOfPeer {
        places.first { !$0.isTrusted && $0.peer == peer }
      } else if places.count > most {
        places.first { !$0.isTrusted && counts[$0.peer] == highest }
      } else {
        nil
      }
    victim.map { close($0.id) }
    return victim?.id
  }

  /// The connection has shown that it belongs here: it stays until it ends.
  mutating func trust(_ id: ObjectIdentifier) {
    for index in places.indices where places[index].id == id { places[index].isTrusted = true }
  }

  mutating func close(_ id: ObjectIdentifier) { places.removeAll { $0.id == id } }
}
