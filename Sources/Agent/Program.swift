/// The name and version of this program.
public enum Program {
  /// The name of the executable.
  public static let name = "coverage-probe"
  /// The version, as the control server receives it.
  public static let version = "0.1.0"
  static let versionCode: Int64 = 100
  static let revision = "v0.1.0"
}
