import Coverage
import OrderedJSON
import Store

/// Speed tests as the map page and the live page read them: a JSON array with an object for each test, without the curves,
/// the pings and the positions.
enum MapSpeedTests {
  /// The columns of the objects (``SpeedTestColumn``).
  static let columns = SpeedTestColumn.table

  /// The JSON text in one line, safe inside of a `script` element.
  static func text(_ tests: [StoredSpeedTest]) -> [UInt8] {
    ScriptText.json(Array(JSON.array(tests.map(object)).text.utf8))
  }

  /// The values of a test under the names of the exports, and the place of its colour in the legend of technologies.
  private static func object(_ test: StoredSpeedTest) -> JSON {
    let values = columns.compactMap { column in column.value(test).map { JSON.Member(column.name, $0) } }
    let place = Legend.place(of: Legend.entry(of: test.technology?.generation))
    return .object(values + [JSON.Member("technology_class", .count(place))])
  }
}
