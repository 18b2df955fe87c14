extension FenceFilter {
  /// Whether a position of a track is to be exported.
  func selects(_ point: TrackPoint) -> Bool { selects(point.time) && box?.contains(point.place) ?? true }
}
