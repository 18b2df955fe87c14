import Coverage
import Driving

extension ServiceStatus {
  /// The state in words without any place, for the service manager, whose status every user of the host can read.
  var words: String {
    var parts = ["\(state.rawValue): \(reason)"]
    for link in links {
      let name = link.link.map { "\($0): " } ?? ""
      let technology = link.technology?.name ?? "no technology"
      parts.append("\(name)\(counted(link.fences, "fence")), \(technology)")
      parts += link.warnings.map { name + $0 }
    }
    if let line = disk.line { parts.append(line) }
    return parts.joined(separator: "; ")
  }
}
