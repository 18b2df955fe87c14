/// What this program calls itself.
public enum Program {
  public static let name = "coverage-probe"
  public static let version = "0.1.0"
  static let versionCode: Int64 = 100
  static let revision = "v0.1.0"
}
