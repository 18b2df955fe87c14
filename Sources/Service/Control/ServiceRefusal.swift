/// Why the service could not run a command, in the service's words.
package struct ServiceRefusal: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}
