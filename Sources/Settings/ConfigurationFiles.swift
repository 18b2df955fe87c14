import Glibc

/// The files of a configuration, in the order in which they are read: a key of a later file replaces that of an earlier one.
public enum ConfigurationFiles {
  /// The file of the Debian package's service, which commands without `--config` read too.
  public static let installed = "/etc/coverage-probe/config.yaml"
  /// The settings that the Debian package makes, below those of ``installed``.
  static let packaged = "/usr/share/coverage-probe/config.yaml"

  /// ``installed`` if it, a file beside it in `conf.d`, or the package's settings are there; otherwise `nil`.
  public static var found: String? {
    [installed, folder(beside: installed), packaged].contains(where: exists) ? installed : nil
  }

  /// The file itself and those of the folder `conf.d` beside it whose names end in `.yaml` or `.yml`, in the order of their names. Below
  /// ``installed``, the package's settings; there, each part may be missing. A pipe and standard input have no folder.
  /// - Throws: ``ConfigurationError/unreadable(file:reason:)`` for a folder that cannot be listed, or has something else than files.
  static func paths(
    _ file: String, installed: String = installed, packaged: String = packaged
  ) throws(ConfigurationError) -> [String] {
    var paths = [file]
    if file == installed { paths = [packaged, installed].filter(exists) }
    if InputFile.canBeReadAgain(file) {
      let folder = folder(beside: file)
      let parts = try names(in: folder).map { "\(folder)/\($0)" }
      // A pipe there would hold up every start.
      if let odd = parts.first(where: { !InputFile.canBeReadAgain($0) }) {
        throw .unreadable(file: odd, reason: "it is not a regular file; remove it")
      }
      paths += parts
    }
    return paths.isEmpty ? [file] : paths
  }

  private static func folder(beside file: String) -> String {
    guard let slash = file.lastIndex(of: "/") else { return "conf.d" }
    return file[...slash] + "conf.d"
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || errno != ENOENT }

  /// The names of a folder's configuration files, in the order of their bytes. Editors and dpkg leave files of other names beside them.
  private static func names(in folder: String) throws(ConfigurationError) -> [String] {
    guard let listing = opendir(folder) else {
      if errno == ENOENT { return [] }
      throw .unreadable(file: folder, reason: String(cString: strerror(errno)))
    }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix("."), name.hasSuffix(".yaml") || name.hasSuffix(".yml") { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}

/// Finds the known name nearest to a misspelt one.
enum ConfigurationName {
  /// The known name with the least edit distance; empty when `known` is empty. A key in the wrong group is found by its last
  /// part.
  static func nearest(to name: String, among known: [String]) -> String {
    let name = name.lowercased()
    let leaf = "." + name.split(separator: ".").suffix(1).joined()
    let displaced = known.filter { $0.hasSuffix(leaf) }
    let candidates = displaced.isEmpty ? known : displaced
    return candidates.min { distance($0.lowercased(), name) < distance($1.lowercased(), name) } ?? ""
  }

  /// Levenshtein's edit distance.
  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    // One row of the table at a time: `row[j]` is the distance between the part of `a` so far and `j` characters of `b`.
    var row = Array(0...b.count)
    for (i, left) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, right) in b.enumerated() {
        let substituted = diagonal + (left == right ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
