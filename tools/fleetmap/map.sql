-- The definition of the map: docs/fleet.md has it in formulas. One text for every engine; DuckDB makes tables of the views.
-- The engine has the views `fences` (rows of the data set with their `day`), `pings` (a row a bin of a fence: its columns, `bin`, `count`) and
-- `origins` (the manifest's sessions), and the functions `element_at` and `array_size`. $cell is a column of the grid; $least_fences and
-- $least_devices are minimums; $operator, $lower and $nearest_rank are spelt out in definition.py.
-- Whole numbers until the last step, so that no result depends on an order of additions. 1e0 is a double everywhere, 1.0 a decimal.

-- A drive's fences in a cell.
CREATE OR REPLACE TEMP VIEW passes AS
SELECT f.$cell AS cell, $operator(f) AS operator, COALESCE(f.technology, 'none') AS technology,
  o.device AS device, o.drive AS drive, f.day AS day,
  CAST(COUNT(*) AS BIGINT) AS fences,
  CAST(SUM(CASE WHEN f.measured THEN 1 ELSE 0 END) AS BIGINT) AS measured,
  CAST(SUM(CASE WHEN f.measured AND f.answered = 0 THEN 1 ELSE 0 END) AS BIGINT) AS without,
  CAST(SUM(CASE WHEN f.measured THEN f.pings ELSE 0 END) AS BIGINT) AS pings,
  CAST(SUM(CASE WHEN f.measured THEN f.answered ELSE 0 END) AS BIGINT) AS answered,
  CAST(SUM(COALESCE(f.distance, 0)) AS BIGINT) AS way,
  CAST(SUM(CASE WHEN f.measured THEN COALESCE(f.distance, 0) ELSE 0 END) AS BIGINT) AS way_measured,
  CAST(SUM(CASE WHEN f.measured AND f.answered = 0 THEN COALESCE(f.distance, 0) ELSE 0 END) AS BIGINT) AS way_without,
  array_agg(f.delay) FILTER (WHERE f.delay IS NOT NULL) AS delays, CAST(COUNT(f.delay) AS BIGINT) AS delay_count,
  array_agg(f.signal) FILTER (WHERE f.signal IS NOT NULL) AS signals, CAST(COUNT(f.signal) AS BIGINT) AS signal_count
FROM fences f JOIN origins o ON f.origin = o.origin
WHERE f.$cell >= 0
GROUP BY 1, 2, 3, 4, 5, 6;

-- The fences of a device and day in a cell: what agrees with itself.
CREATE OR REPLACE TEMP VIEW device_days AS
SELECT cell, operator, 'all' AS technology, device, day, CAST(SUM(measured) AS BIGINT) AS m, CAST(SUM(without) AS BIGINT) AS x
FROM passes GROUP BY cell, operator, device, day HAVING SUM(measured) > 0
UNION ALL
SELECT cell, operator, technology, device, day, CAST(SUM(measured) AS BIGINT), CAST(SUM(without) AS BIGINT)
FROM passes WHERE technology <> 'none' GROUP BY cell, operator, technology, device, day HAVING SUM(measured) > 0;

-- Of a cell: device-days k, fences n, those without coverage, and sums in millionths: of squares within device-days, and of their shares.
CREATE OR REPLACE TEMP VIEW clusters AS
SELECT cell, operator, technology, CAST(COUNT(*) AS BIGINT) AS k, CAST(SUM(m) AS BIGINT) AS n, CAST(SUM(m * m) AS BIGINT) AS n2,
  CAST(SUM(x) AS BIGINT) AS without, CAST(SUM(CAST(ROUND(x * (m - x) * 1e6 / m) AS BIGINT)) AS BIGINT) AS within,
  CAST(SUM(CAST(ROUND(x * 1e6 / m) AS BIGINT)) AS BIGINT) AS shares
FROM device_days GROUP BY cell, operator, technology;

-- The intra-class correlation of each operator's fences, from the analysis of variance over all cells with two device-days or more.
CREATE OR REPLACE TEMP VIEW correlations AS
SELECT operator, CASE WHEN msb + (n0 - 1) * msw > 0 THEN LEAST(1e0, GREATEST(0e0, (msb - msw) / (msb + (n0 - 1) * msw))) ELSE 0e0 END AS rho
FROM (
  SELECT operator, SUM(within) / 1e6 / SUM(n - k) AS msw,
    SUM(CAST(ROUND(without * (n - without) * 1e6 / n) AS BIGINT) - within) / 1e6 / SUM(k - 1) AS msb,
    SUM(CAST(ROUND((n - n2 * 1e0 / n) * 1e6) AS BIGINT)) / 1e6 / SUM(k - 1) AS n0
  FROM clusters WHERE technology = 'all' AND k > 1 GROUP BY operator HAVING SUM(n - k) > 0) AS analysis;

-- Each cell with all technologies together, and with each one.
CREATE OR REPLACE TEMP VIEW totals AS
SELECT cell, operator, 'all' AS technology, CAST(SUM(fences) AS BIGINT) AS fences, CAST(SUM(measured) AS BIGINT) AS measured,
  CAST(SUM(without) AS BIGINT) AS without, CAST(SUM(pings) AS BIGINT) AS pings, CAST(SUM(answered) AS BIGINT) AS answered,
  CAST(SUM(way) AS BIGINT) AS way, CAST(SUM(way_measured) AS BIGINT) AS way_measured, CAST(SUM(way_without) AS BIGINT) AS way_without,
  array_size(array_distinct(array_agg(device))) AS devices, array_size(array_distinct(array_agg(drive))) AS drives,
  array_sort(flatten(array_agg(delays) FILTER (WHERE delay_count > 0))) AS delays, CAST(SUM(delay_count) AS BIGINT) AS delay_count,
  array_sort(flatten(array_agg(signals) FILTER (WHERE signal_count > 0))) AS signals, CAST(SUM(signal_count) AS BIGINT) AS signal_count
FROM passes GROUP BY cell, operator
UNION ALL
SELECT cell, operator, technology, CAST(SUM(fences) AS BIGINT), CAST(SUM(measured) AS BIGINT),
  CAST(SUM(without) AS BIGINT), CAST(SUM(pings) AS BIGINT), CAST(SUM(answered) AS BIGINT),
  CAST(SUM(way) AS BIGINT), CAST(SUM(way_measured) AS BIGINT), CAST(SUM(way_without) AS BIGINT),
  array_size(array_distinct(array_agg(device))), array_size(array_distinct(array_agg(drive))),
  array_sort(flatten(array_agg(delays) FILTER (WHERE delay_count > 0))), CAST(SUM(delay_count) AS BIGINT),
  array_sort(flatten(array_agg(signals) FILTER (WHERE signal_count > 0))), CAST(SUM(signal_count) AS BIGINT)
FROM passes WHERE technology <> 'none' GROUP BY cell, operator, technology;

CREATE OR REPLACE TEMP VIEW bins AS
SELECT p.$cell AS cell, $operator(p) AS operator, COALESCE(p.technology, 'none') AS technology, p.bin AS bin,
  CAST(SUM(p.count) AS BIGINT) AS pings
FROM pings p JOIN origins o ON p.origin = o.origin
WHERE p.$cell >= 0
GROUP BY 1, 2, 3, 4;

-- Percentiles of pings by nearest rank: the first bin up to which p percent of the pings are.
CREATE OR REPLACE TEMP VIEW ping_ranks AS
SELECT cell, operator, technology, MAX(total) AS binned,
  MIN(CASE WHEN until * 100 >= total * 5 THEN bin END) AS b5, MIN(CASE WHEN until * 100 >= total * 50 THEN bin END) AS b50,
  MIN(CASE WHEN until * 100 >= total * 95 THEN bin END) AS b95, MIN(CASE WHEN until * 100 >= total * 99 THEN bin END) AS b99
FROM (
  SELECT cell, operator, technology, bin, CAST(SUM(pings) OVER (PARTITION BY cell, operator, technology ORDER BY bin) AS BIGINT) AS until,
    CAST(SUM(pings) OVER (PARTITION BY cell, operator, technology) AS BIGINT) AS total
  FROM (
    SELECT cell, operator, 'all' AS technology, bin, CAST(SUM(pings) AS BIGINT) AS pings FROM bins GROUP BY cell, operator, bin
    UNION ALL SELECT cell, operator, technology, bin, pings FROM bins WHERE technology <> 'none') AS each_bin) AS ranked
GROUP BY cell, operator, technology;

-- Effective fences: n over the design effect 1 + rho (sum of m^2 / n - 1). Wilson's interval with them, z = 1.96.
CREATE OR REPLACE TEMP VIEW cells AS
SELECT t.cell, t.operator, t.technology, t.fences, t.measured, t.without, t.pings, t.answered, t.devices, t.drives, c.k AS device_days,
  t.way / 10e0 AS metres,
  t.without * 1e0 / NULLIF(t.measured, 0) AS share, c.effective, c.low, c.high,
  t.way_without * 1e0 / NULLIF(t.way_measured, 0) AS share_by_way,
  c.shares / 1e6 / c.k AS share_by_device_day,
  (t.pings - t.answered) * 1e0 / NULLIF(t.pings, 0) AS loss,
  $nearest_rank(t.delays, t.delay_count, 5) AS fence_p5_us,
  $nearest_rank(t.delays, t.delay_count, 50) AS fence_p50_us,
  $nearest_rank(t.delays, t.delay_count, 95) AS fence_p95_us,
  $nearest_rank(t.delays, t.delay_count, 99) AS fence_p99_us,
  r.binned,
  $lower(r.b5) AS ping_p5_us, $lower(r.b50) AS ping_p50_us, $lower(r.b95) AS ping_p95_us, $lower(r.b99) AS ping_p99_us,
  $nearest_rank(t.signals, t.signal_count, 50) AS signal_dbm,
  t.fences >= $least_fences AND t.devices >= $least_devices AS is_shown
FROM totals t
LEFT JOIN (
  SELECT cell, operator, technology, k, shares, effective,
    GREATEST(0e0, (share + z2 / (2 * effective) - SQRT(z2 * (share * (1 - share) + z2 / (4 * effective)) / effective)) / (1 + z2 / effective)) AS low,
    LEAST(1e0, (share + z2 / (2 * effective) + SQRT(z2 * (share * (1 - share) + z2 / (4 * effective)) / effective)) / (1 + z2 / effective)) AS high
  FROM (
    SELECT s.cell, s.operator, s.technology, s.k, s.shares, s.without * 1e0 / s.n AS share, CAST(3.8416 AS DOUBLE) AS z2,
      s.n * 1e0 / (1 + COALESCE(q.rho, 1e0) * (s.n2 * 1e0 / s.n - 1)) AS effective
    FROM clusters s LEFT JOIN correlations q ON s.operator = q.operator) AS sized) AS c
  ON t.cell = c.cell AND t.operator = c.operator AND t.technology = c.technology
LEFT JOIN ping_ranks r ON t.cell = r.cell AND t.operator = r.operator AND t.technology = r.technology;
