/// Why a connection failed.
struct BenchError: Error, CustomStringConvertible {
  let description: String
}
