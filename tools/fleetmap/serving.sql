-- The aggregate, for tiles: figures by month, and the shape of each cell once, in Web Mercator. No fence is here.
CREATE EXTENSION IF NOT EXISTS postgis;

CREATE TABLE IF NOT EXISTS figures (
  period date NOT NULL, resolution smallint NOT NULL, cell text NOT NULL, operator text NOT NULL, technology text NOT NULL,
  share double precision, low double precision, high double precision, loss double precision, ping_p50_us bigint, ping_p95_us bigint,
  ping_p99_us bigint, fence_p50_us bigint, fence_p95_us bigint, signal_dbm bigint, fences bigint NOT NULL, effective double precision,
  devices bigint NOT NULL, drives bigint, metres double precision,
  PRIMARY KEY (period, resolution, cell, operator, technology)
) PARTITION BY RANGE (period);

CREATE TABLE IF NOT EXISTS shapes (
  resolution smallint NOT NULL, cell text NOT NULL, shape geometry(MultiPolygon, 3857) NOT NULL, PRIMARY KEY (resolution, cell)
);
CREATE INDEX IF NOT EXISTS shapes_place ON shapes USING gist (shape);

-- A tile of one figure, of at most so many cells, those with the most fences first. With another operator, the difference, where both have it.
CREATE OR REPLACE FUNCTION tile(z integer, x integer, y integer, the_resolution integer, the_period date, the_operator text, the_technology text,
  the_figure text, the_other text, most integer) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ST_AsMVT(layer, 'cells') FROM (
    SELECT f.cell,
      (to_jsonb(f) ->> the_figure)::float8 - CASE WHEN the_other = '' THEN 0 ELSE (to_jsonb(o) ->> the_figure)::float8 END AS value,
      ST_AsMVTGeom(s.shape, ST_TileEnvelope(z, x, y)) AS geom
    FROM shapes s JOIN figures f USING (resolution, cell)
    LEFT JOIN figures o ON o.period = f.period AND o.resolution = f.resolution AND o.cell = f.cell AND o.technology = f.technology
      AND o.operator = the_other
    WHERE s.resolution = the_resolution AND s.shape && ST_TileEnvelope(z, x, y)
      AND f.period = the_period AND f.operator = the_operator AND f.technology = the_technology
      AND to_jsonb(f) ->> the_figure IS NOT NULL AND (the_other = '' OR to_jsonb(o) ->> the_figure IS NOT NULL)
    ORDER BY f.fences DESC, f.cell LIMIT most) AS layer
$$;

DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'reader') THEN CREATE ROLE reader LOGIN; END IF;
END $$;
GRANT SELECT ON figures, shapes TO reader;
ALTER ROLE reader SET default_transaction_read_only = on;
