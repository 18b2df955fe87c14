/// Why a speed test could not begin.
struct TestRefusal: Error, CustomStringConvertible {
  /// One line, with what to do.
  let description: String
}
