/// Why a connection, or the server, ended.
enum ServerError: Error, CustomStringConvertible {
  case system(String)
  case tls(String)
  case closed
  case refused(String)

  var description: String {
    switch self {
    case .system(let reason): reason
    case .tls(let reason): "TLS: \(reason)"
    case .closed: "the client closed"
    case .refused(let reason): reason
    }
  }
}
