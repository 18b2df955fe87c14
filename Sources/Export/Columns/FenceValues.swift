import OrderedJSON

/// The values of one fence by column, for a reader of that fence alone.
extension FenceRecord {
  /// The columns of a table of the store's fences that have a value, in their order.
  public var values: [(column: String, text: String)] {
    ColumnList.storedTable.compactMap { column in column.value(self).map { (column.name, $0.plainText) } }
  }

  /// The same as an object.
  public var json: JSON {
    .object(ColumnList.storedTable.compactMap { column in column.value(self).map { JSON.Member(column.name, $0) } })
  }

  /// The columns that differ, with the values of both; `nil` where one has none.
  public func differences(from other: FenceRecord) -> [(column: String, own: String?, other: String?)] {
    ColumnList.storedTable.compactMap { column in
      let (own, value) = (column.value(self), column.value(other))
      return own == value ? nil : (column.name, own?.plainText, value?.plainText)
    }
  }
}
