extension FenceFilter {
  /// Whether a position of a track is to be exported: by time and box only, because a position has no technology of its own,
  /// and the sessions of other links are left out before.
  func selects(_ point: TrackPoint) -> Bool { selects(point.time) && box?.contains(point.place) ?? true }
}
