/// The name and version of this program.
public enum Program {
  /// The name of the executable.
  public static let name = "coverage-probe"
  /// The version, as the control server receives it.
  public static let version = "0.1.0"
  /// The version as a number, as the control server receives it.
  public static let versionCode: Int64 = 100
  /// The source revision, as the control server receives it.
  public static let revision = "v0.1.0"
}
