/// How a format with a choice draws a fence. The raw values are those of `export --shape`.
public enum FenceShape: String, Hashable, Sendable, CaseIterable {
  /// Its centre.
  case point
  /// Its circle on the ground, as a polygon.
  case circle
}
