import Foundation

/// Numbers as an operator reads them, in the same form in every locale.
public enum DecimalText {
  /// `value` with `places` decimals.
  public static func of(_ value: Double, places: Int) -> String {
    value.formatted(
      .number.precision(.fractionLength(places)).grouping(.never).locale(.init(identifier: "en_US_POSIX")))
  }
}
