import Settings

extension ProbeConfiguration {
  /// The defaults, with a state directory in `folder`, which does not exist yet.
  public static func sample(in folder: TemporaryFolder) -> ProbeConfiguration {
    var configuration = ProbeConfiguration()
    configuration.stateDirectory = folder.file("state")
    return configuration
  }
}
