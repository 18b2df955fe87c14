import Coverage
import OrderedJSON

/// Some fences as columns: for each column an array with a value a fence, instead of an object for each fence.
///
/// A chunk needs nothing from the chunks before it, so the page can add further ones while a drive goes on. Texts are stored
/// once in a list of the chunk, and the array has their places in it. Times are milliseconds since 1970, booleans 1 and 0. A
/// column without any value is left out.
struct MapChunk {
  private(set) var fences = 0
  /// For each column of ``MapColumns/all``, in its order: the values, with commas but without the brackets of the array.
  private var arrays: [JSONWriter]
  /// The texts of each column; empty for columns of numbers.
  private var lists: [TextList]
  /// Whether a fence of the chunk has a value in the column.
  private var hasValue: [Bool]

  /// The texts of a column, each once, in order of their first occurrence.
  private struct TextList {
    var texts: [JSON] = []
    /// The places by the UTF-8 bytes: Swift compares strings by canonical equivalence, and both forms must survive.
    var places: [[UInt8]: Int] = [:]

    mutating func place(of text: JSON) -> Int {
      let bytes = if case .string(let string) = text { Array(string.utf8) } else { Array(text.text.utf8) }
      if let place = places[bytes] { return place }
      places[bytes] = texts.count
      texts.append(text)
      return texts.count - 1
    }
  }

  init() {
    arrays = Array(repeating: JSONWriter(), count: MapColumns.all.count)
    lists = Array(repeating: TextList(), count: MapColumns.all.count)
    hasValue = Array(repeating: false, count: MapColumns.all.count)
  }

  mutating func add(_ record: FenceRecord) {
    fences += 1
    for (index, column) in MapColumns.all.enumerated() {
      guard let value = column.value(record) else {
        arrays[index].value(.null)
        continue
      }
      hasValue[index] = true
      switch column.kind {
      case .text, .object: arrays[index].value(.count(lists[index].place(of: value)))
      case .time: arrays[index].value(Self.milliseconds(value))
      case .boolean: arrays[index].value(value == .bool(true) ? 1 : 0)
      case .integer, .long, .decimal: arrays[index].value(value)
      }
    }
  }

  /// The chunk as JSON text in one line, safe inside of a `script` element (``ScriptText/json(_:)``).
  var text: [UInt8] {
    var text = Array("{\"fences\":\(fences),\"columns\":{".utf8)
    var isFirst = true
    for (index, column) in MapColumns.all.enumerated() where hasValue[index] {
      if !isFirst { text.append(UInt8(ascii: ",")) }
      isFirst = false
      text += column.key
      if column.kind == .text || column.kind == .object {
        text += Array("{\"texts\":\(JSON.array(lists[index].texts).text),\"places\":[".utf8)
        text += arrays[index].bytes
        text += Array("]}".utf8)
      } else {
        text.append(UInt8(ascii: "["))
        text += arrays[index].bytes
        text.append(UInt8(ascii: "]"))
      }
    }
    return ScriptText.json(text + Array("}}".utf8))
  }

  /// Milliseconds since 1970, cut off; `null` for text that is no time.
  private static func milliseconds(_ time: JSON) -> JSON {
    guard case .string(let text) = time, let time = WallTime(iso8601: text) else { return .null }
    return .integer(time.microseconds / 1000)
  }
}
