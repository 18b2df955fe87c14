/// Why the service could not run a command, in the service's words.
struct ServiceRefusal: Error, CustomStringConvertible {
  let description: String
}
