import Coverage

/// The facts of a batch that its fences are exported with.
struct FenceBatch {
  let test: String?
  let anchor: WallTime?
  let isIntact: Bool
}
