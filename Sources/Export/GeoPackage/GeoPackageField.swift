/// A column of a layer beside its geometry.
struct GeoPackageField {
  let name: String
  /// One of GeoPackage's types (OGC 12-128r17, table 1).
  let type: String
  /// The `description` in `gpkg_data_columns`, for readers of the file.
  let meaning: String
}
