/// The requests that sending a batch needs, by their paths.
enum RequestStep: String, Hashable, Sendable {
  case settings, coverageRequest, coverageResult, history, testRequest, result
}
