/// The tables, numbers and triggers that GeoPackage prescribes (OGC 12-128r17), as SQL; and QGIS's table of styles.
enum GeoPackageSchema {
  /// `GPKG` in ASCII, in the header of the SQLite file (requirement 2).
  static let applicationID = 0x4750_4B47
  /// Version 1.3.0: major, minor and patch, two digits each (requirement 2).
  static let userVersion = 10300
  /// The reference system of all positions, by its number in EPSG.
  static let wgs84 = 4326

  /// The tables of every GeoPackage, those of the extension for descriptions of columns (`gpkg_schema`), and the reference
  /// systems that each GeoPackage must have: -1, 0 and 4326 (requirement 11).
  static let tables = """
    CREATE TABLE gpkg_spatial_ref_sys (
      srs_name TEXT NOT NULL,
      srs_id INTEGER NOT NULL PRIMARY KEY,
      organization TEXT NOT NULL,
      organization_coordsys_id INTEGER NOT NULL,
      definition TEXT NOT NULL,
      description TEXT);
    CREATE TABLE gpkg_contents (
      table_name TEXT NOT NULL PRIMARY KEY,
      data_type TEXT NOT NULL,
      identifier TEXT UNIQUE,
      description TEXT DEFAULT '',
      last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
      min_x DOUBLE,
      min_y DOUBLE,
      max_x DOUBLE,
      max_y DOUBLE,
      srs_id INTEGER,
      CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
    CREATE TABLE gpkg_geometry_columns (
      table_name TEXT NOT NULL,
      column_name TEXT NOT NULL,
      geometry_type_name TEXT NOT NULL,
      srs_id INTEGER NOT NULL,
      z TINYINT NOT NULL,
      m TINYINT NOT NULL,
      CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
      CONSTRAINT uk_gc_table_name UNIQUE (table_name),
      CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents (table_name),
      CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
    CREATE TABLE gpkg_extensions (
      table_name TEXT,
      column_name TEXT,
      extension_name TEXT NOT NULL,
      definition TEXT NOT NULL,
      scope TEXT NOT NULL,
      CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
    CREATE TABLE gpkg_data_columns (
      table_name TEXT NOT NULL,
      column_name TEXT NOT NULL,
      name TEXT,
      title TEXT,
      description TEXT,
      mime_type TEXT,
      constraint_name TEXT,
      CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name),
      CONSTRAINT gdc_tn UNIQUE (table_name, name));
    CREATE TABLE gpkg_data_column_constraints (
      constraint_name TEXT NOT NULL,
      constraint_type TEXT NOT NULL,
      value TEXT,
      min NUMERIC,
      min_is_inclusive BOOLEAN,
      max NUMERIC,
      max_is_inclusive BOOLEAN,
      description TEXT,
      CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value));

    INSERT INTO gpkg_spatial_ref_sys VALUES
      ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', 'undefined Cartesian coordinate reference system'),
      ('Undefined geographic', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system'),
      ('WGS 84 geodetic', 4326, 'EPSG', 4326,
        'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],'
        || 'AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],'
        || 'UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]',
        'longitude and latitude in degrees on the WGS 84 ellipsoid');
    INSERT INTO gpkg_extensions VALUES
      ('gpkg_data_columns', NULL, 'gpkg_schema', 'http://www.geopackage.org/spec130/#extension_schema', 'read-write'),
      ('gpkg_data_column_constraints', NULL, 'gpkg_schema', 'http://www.geopackage.org/spec130/#extension_schema',
        'read-write');
    """

  /// The triggers that keep the R-tree of `table` up to date when another program changes it (annex F.3). They call functions
  /// (`ST_MinX`, `ST_IsEmpty`) that only programs with GeoPackage support have, so they are made after all rows are there.
  static func triggers(of table: String) -> String {
    let tree = "rtree_\(table)_geom"
    let insert = """
      INSERT OR REPLACE INTO "\(tree)" VALUES (
        NEW.fid, ST_MinX(NEW.geom), ST_MaxX(NEW.geom), ST_MinY(NEW.geom), ST_MaxY(NEW.geom));
      """
    let isThere = "NEW.geom NOTNULL AND NOT ST_IsEmpty(NEW.geom)"
    let isGone = "NEW.geom ISNULL OR ST_IsEmpty(NEW.geom)"
    return """
      CREATE TRIGGER "\(tree)_insert" AFTER INSERT ON "\(table)" WHEN (\(isThere)) BEGIN \(insert) END;
      CREATE TRIGGER "\(tree)_update1" AFTER UPDATE OF geom ON "\(table)" WHEN OLD.fid = NEW.fid AND (\(isThere))
        BEGIN \(insert) END;
      CREATE TRIGGER "\(tree)_update2" AFTER UPDATE OF geom ON "\(table)" WHEN OLD.fid = NEW.fid AND (\(isGone))
        BEGIN DELETE FROM "\(tree)" WHERE id = OLD.fid; END;
      CREATE TRIGGER "\(tree)_update3" AFTER UPDATE ON "\(table)" WHEN OLD.fid != NEW.fid AND (\(isThere))
        BEGIN DELETE FROM "\(tree)" WHERE id = OLD.fid; \(insert) END;
      CREATE TRIGGER "\(tree)_update4" AFTER UPDATE ON "\(table)" WHEN OLD.fid != NEW.fid AND (\(isGone))
        BEGIN DELETE FROM "\(tree)" WHERE id IN (OLD.fid, NEW.fid); END;
      CREATE TRIGGER "\(tree)_delete" AFTER DELETE ON "\(table)" WHEN OLD.geom NOTNULL
        BEGIN DELETE FROM "\(tree)" WHERE id = OLD.fid; END;
      """
  }

  /// Names the form of the provenance (docs/export.md), as the tables of metadata ask for each of their texts.
  static let provenance = "urn:x-coverage-probe:provenance:1"

  /// The tables of the extension for metadata (annex F.8), as the standard defines them.
  static let metadata = """
    CREATE TABLE gpkg_metadata (
      id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL,
      md_scope TEXT NOT NULL DEFAULT 'dataset',
      md_standard_uri TEXT NOT NULL,
      mime_type TEXT NOT NULL DEFAULT 'text/xml',
      metadata TEXT NOT NULL DEFAULT '');
    CREATE TABLE gpkg_metadata_reference (
      reference_scope TEXT NOT NULL,
      table_name TEXT,
      column_name TEXT,
      row_id_value INTEGER,
      timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
      md_file_id INTEGER NOT NULL,
      md_parent_id INTEGER,
      CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata (id),
      CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata (id));
    INSERT INTO gpkg_extensions VALUES
      ('gpkg_metadata', NULL, 'gpkg_metadata', 'http://www.geopackage.org/spec130/#extension_metadata', 'read-write'),
      ('gpkg_metadata_reference', NULL, 'gpkg_metadata', 'http://www.geopackage.org/spec130/#extension_metadata',
        'read-write');
    """

  /// The table from which QGIS reads the styles of layers. It is no part of the standard, so it is listed as a table of
  /// attributes.
  static let styles = """
    CREATE TABLE layer_styles (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      f_table_catalog TEXT(256),
      f_table_schema TEXT(256),
      f_table_name TEXT(256),
      f_geometry_column TEXT(256),
      styleName TEXT(30),
      styleQML TEXT,
      styleSLD TEXT,
      useAsDefault BOOLEAN,
      description TEXT,
      owner TEXT(30),
      ui TEXT(30),
      update_time DATETIME DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')));
    INSERT INTO gpkg_contents (table_name, data_type, identifier) VALUES ('layer_styles', 'attributes', 'layer_styles');
    """
}
