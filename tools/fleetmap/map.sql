-- The definition of the map: docs/fleet.md has it in formulas. One text for every engine; DuckDB makes tables of the views.
-- The engine has the views `fences` (rows of the data set with their `day`) and `origins` (the manifest's sessions), and the functions `element_at`,
-- `array_size`, `sort_array` (Spark's array_sort calls a comparison for each pair), `reduce` and `explode`. $cell is a column of the grid; $least_fences and
-- $least_devices are minimums; $operator, $period, $lower, $nearest_rank and $technologies are spelt out in definition.py.
-- Whole numbers until the last step, so that no result depends on an order of additions. 1e0 is a double everywhere, 1.0 a decimal.
-- Spark reads the hints /*+ */: the sessions and their labels are small.
-- Groups have a number, their `label`: that of the period and operator times $technologies plus the technology's, 0 for all together and 1 for none.
-- Grouping by numbers costs half of grouping by texts, and a statement for several periods less than one for each.

CREATE OR REPLACE TEMP VIEW labels AS
SELECT origin, day, own_operator, own_technology, period, operator, technology,
  CAST(DENSE_RANK() OVER (ORDER BY period, operator) AS BIGINT) * $technologies
    + CASE WHEN technology = 'none' THEN 1 ELSE 1 + DENSE_RANK() OVER (ORDER BY technology) END AS label
FROM (
  SELECT /*+ BROADCAST(o) */ f.origin AS origin, f.day AS day, f.operator AS own_operator, f.technology AS own_technology, $period AS period,
    $operator AS operator, COALESCE(f.technology, 'none') AS technology
  FROM (SELECT DISTINCT origin, day, operator, technology FROM fences) AS f JOIN origins o ON f.origin = o.origin) AS named;

CREATE OR REPLACE TEMP VIEW names AS
SELECT DISTINCT label, period, operator, technology FROM labels
UNION ALL
SELECT DISTINCT label - MOD(label, $technologies), period, operator, 'all' FROM labels;

CREATE OR REPLACE TEMP VIEW labelled AS
SELECT /*+ BROADCAST(l) */ f.$cell AS cell, l.label AS label, f.origin AS origin, f.day AS day, f.measured AS measured, f.pings AS pings, f.answered AS answered,
  f.distance AS distance, f.delay AS delay, f.signal AS signal, f.bins AS bins
FROM fences f JOIN labels l
  ON f.origin = l.origin AND f.day = l.day AND f.operator IS NOT DISTINCT FROM l.own_operator AND f.technology IS NOT DISTINCT FROM l.own_technology
WHERE f.$cell >= 0;

-- A session's fences in a cell.
CREATE OR REPLACE TEMP VIEW passes AS
SELECT /*+ BROADCAST(o) */ p.cell, p.label, o.device, o.drive, p.day, p.fences, p.measured, p.without, p.pings, p.answered, p.way, p.way_measured, p.way_without
FROM (
  SELECT cell, label, origin, day,
    CAST(COUNT(*) AS BIGINT) AS fences,
    CAST(SUM(CASE WHEN measured THEN 1 ELSE 0 END) AS BIGINT) AS measured,
    CAST(SUM(CASE WHEN measured AND answered = 0 THEN 1 ELSE 0 END) AS BIGINT) AS without,
    CAST(SUM(CASE WHEN measured THEN pings ELSE 0 END) AS BIGINT) AS pings,
    CAST(SUM(CASE WHEN measured THEN answered ELSE 0 END) AS BIGINT) AS answered,
    CAST(SUM(COALESCE(distance, 0)) AS BIGINT) AS way,
    CAST(SUM(CASE WHEN measured THEN COALESCE(distance, 0) ELSE 0 END) AS BIGINT) AS way_measured,
    CAST(SUM(CASE WHEN measured AND answered = 0 THEN COALESCE(distance, 0) ELSE 0 END) AS BIGINT) AS way_without
  FROM labelled GROUP BY cell, label, origin, day) AS p JOIN origins o ON p.origin = o.origin;

-- The fences of a device and day in a cell: what agrees with itself.
CREATE OR REPLACE TEMP VIEW device_days AS
SELECT cell, label - MOD(label, $technologies) AS label, device, day, CAST(SUM(measured) AS BIGINT) AS m, CAST(SUM(without) AS BIGINT) AS x
FROM passes GROUP BY cell, label - MOD(label, $technologies), device, day HAVING SUM(measured) > 0
UNION ALL
SELECT cell, label, device, day, CAST(SUM(measured) AS BIGINT), CAST(SUM(without) AS BIGINT)
FROM passes WHERE MOD(label, $technologies) > 1 GROUP BY cell, label, device, day HAVING SUM(measured) > 0;

-- Of a cell: device-days k, fences n, those without coverage, and sums in millionths: of squares within device-days, and of their shares.
CREATE OR REPLACE TEMP VIEW clusters AS
SELECT cell, label, CAST(COUNT(*) AS BIGINT) AS k, CAST(SUM(m) AS BIGINT) AS n, CAST(SUM(m * m) AS BIGINT) AS n2,
  CAST(SUM(x) AS BIGINT) AS without, CAST(SUM(CAST(ROUND(x * (m - x) * 1e6 / m) AS BIGINT)) AS BIGINT) AS within,
  CAST(SUM(CAST(ROUND(x * 1e6 / m) AS BIGINT)) AS BIGINT) AS shares
FROM device_days GROUP BY cell, label;

-- The intra-class correlation of each operator's fences, from the analysis of variance over all cells with two device-days or more.
CREATE OR REPLACE TEMP VIEW correlations AS
SELECT label, CASE WHEN msb + (n0 - 1) * msw > 0 THEN LEAST(1e0, GREATEST(0e0, (msb - msw) / (msb + (n0 - 1) * msw))) ELSE 0e0 END AS rho
FROM (
  SELECT label, SUM(within) / 1e6 / SUM(n - k) AS msw,
    SUM(CAST(ROUND(without * (n - without) * 1e6 / n) AS BIGINT) - within) / 1e6 / SUM(k - 1) AS msb,
    SUM(CAST(ROUND((n - n2 * 1e0 / n) * 1e6) AS BIGINT)) / 1e6 / SUM(k - 1) AS n0
  FROM clusters WHERE MOD(label, $technologies) = 0 AND k > 1 GROUP BY label HAVING SUM(n - k) > 0) AS analysis;

-- Each cell with all technologies together, and with each one.
CREATE OR REPLACE TEMP VIEW totals AS
SELECT cell, label - MOD(label, $technologies) AS label, CAST(SUM(fences) AS BIGINT) AS fences, CAST(SUM(measured) AS BIGINT) AS measured,
  CAST(SUM(without) AS BIGINT) AS without, CAST(SUM(pings) AS BIGINT) AS pings, CAST(SUM(answered) AS BIGINT) AS answered,
  CAST(SUM(way) AS BIGINT) AS way, CAST(SUM(way_measured) AS BIGINT) AS way_measured, CAST(SUM(way_without) AS BIGINT) AS way_without,
  array_size(array_distinct(array_agg(device))) AS devices, array_size(array_distinct(array_agg(drive))) AS drives
FROM passes GROUP BY cell, label - MOD(label, $technologies)
UNION ALL
SELECT cell, label, CAST(SUM(fences) AS BIGINT), CAST(SUM(measured) AS BIGINT),
  CAST(SUM(without) AS BIGINT), CAST(SUM(pings) AS BIGINT), CAST(SUM(answered) AS BIGINT),
  CAST(SUM(way) AS BIGINT), CAST(SUM(way_measured) AS BIGINT), CAST(SUM(way_without) AS BIGINT),
  array_size(array_distinct(array_agg(device))), array_size(array_distinct(array_agg(drive)))
FROM passes WHERE MOD(label, $technologies) > 1 GROUP BY cell, label;

-- Of each cell, in order: the fences' mean delays, and their signals.
CREATE OR REPLACE TEMP VIEW lists AS
SELECT cell, label, array_agg(delay) FILTER (WHERE delay IS NOT NULL) AS delays, CAST(COUNT(delay) AS BIGINT) AS delay_count,
  array_agg(signal) FILTER (WHERE signal IS NOT NULL) AS signals, CAST(COUNT(signal) AS BIGINT) AS signal_count
FROM labelled WHERE delay IS NOT NULL OR signal IS NOT NULL GROUP BY cell, label;

CREATE OR REPLACE TEMP VIEW fence_ranks AS
SELECT cell, label, $nearest_rank(delays, delay_count, 5) AS p5, $nearest_rank(delays, delay_count, 50) AS p50,
  $nearest_rank(delays, delay_count, 95) AS p95, $nearest_rank(delays, delay_count, 99) AS p99,
  $nearest_rank(signals, signal_count, 50) AS signal
FROM (
  SELECT cell, label - MOD(label, $technologies) AS label,
    sort_array(flatten(array_agg(delays) FILTER (WHERE delay_count > 0))) AS delays, CAST(SUM(delay_count) AS BIGINT) AS delay_count,
    sort_array(flatten(array_agg(signals) FILTER (WHERE signal_count > 0))) AS signals, CAST(SUM(signal_count) AS BIGINT) AS signal_count
  FROM lists GROUP BY cell, label - MOD(label, $technologies)
  UNION ALL
  SELECT cell, label, sort_array(delays), delay_count, sort_array(signals), signal_count
  FROM lists WHERE MOD(label, $technologies) > 1) AS ordered;

-- Of each cell, the histogram of its pings. A number of the data set's `bins` is 65536 times its bin plus its pings; here, 2^48 times it.
-- A label and a bin together are one number: to group by two numbers costs less than by three.
CREATE OR REPLACE TEMP VIEW histograms AS
SELECT cell, label_bin >> 16 AS label, array_agg(((label_bin & 65535) << 48) + pings) AS bins, CAST(SUM(pings) AS BIGINT) AS binned
FROM (
  SELECT cell, (label << 16) + (bin >> 16) AS label_bin, CAST(SUM(bin & 65535) AS BIGINT) AS pings
  FROM (SELECT cell, label, explode(bins) AS bin FROM labelled) AS each_bin
  GROUP BY cell, (label << 16) + (bin >> 16)) AS summed
GROUP BY cell, label_bin >> 16;

-- Percentiles of pings by nearest rank. Technologies that are together have a bin several times; its first bin is the same.
CREATE OR REPLACE TEMP VIEW ping_ranks AS
SELECT cell, label, binned, $nearest_bin(bins, binned, 5) AS b5, $nearest_bin(bins, binned, 50) AS b50, $nearest_bin(bins, binned, 95) AS b95,
  $nearest_bin(bins, binned, 99) AS b99
FROM (
  SELECT cell, label - MOD(label, $technologies) AS label, sort_array(flatten(array_agg(bins))) AS bins, CAST(SUM(binned) AS BIGINT) AS binned
  FROM histograms GROUP BY cell, label - MOD(label, $technologies)
  UNION ALL
  SELECT cell, label, sort_array(bins), binned FROM histograms WHERE MOD(label, $technologies) > 1) AS ordered;

-- Effective fences: n over the design effect 1 + rho (sum of m^2 / n - 1). Wilson's interval with them, z = 1.96.
CREATE OR REPLACE TEMP VIEW cells AS
SELECT /*+ BROADCAST(g) */ g.period, t.cell, g.operator, g.technology, t.fences, t.measured, t.without, t.pings, t.answered, t.devices, t.drives, c.k AS device_days,
  t.way / 10e0 AS metres,
  t.without * 1e0 / NULLIF(t.measured, 0) AS share, c.effective, c.low, c.high,
  t.way_without * 1e0 / NULLIF(t.way_measured, 0) AS share_by_way,
  c.shares / 1e6 / c.k AS share_by_device_day,
  (t.pings - t.answered) * 1e0 / NULLIF(t.pings, 0) AS loss,
  f.p5 AS fence_p5_us, f.p50 AS fence_p50_us, f.p95 AS fence_p95_us, f.p99 AS fence_p99_us,
  r.binned,
  $lower(r.b5) AS ping_p5_us, $lower(r.b50) AS ping_p50_us, $lower(r.b95) AS ping_p95_us, $lower(r.b99) AS ping_p99_us,
  f.signal AS signal_dbm,
  t.fences >= $least_fences AND t.devices >= $least_devices AS is_shown
FROM totals t
JOIN names g ON t.label = g.label
LEFT JOIN (
  SELECT cell, label, k, shares, effective,
    GREATEST(0e0, (share + z2 / (2 * effective) - SQRT(z2 * (share * (1 - share) + z2 / (4 * effective)) / effective)) / (1 + z2 / effective)) AS low,
    LEAST(1e0, (share + z2 / (2 * effective) + SQRT(z2 * (share * (1 - share) + z2 / (4 * effective)) / effective)) / (1 + z2 / effective)) AS high
  FROM (
    SELECT s.cell, s.label, s.k, s.shares, s.without * 1e0 / s.n AS share, CAST(3.8416 AS DOUBLE) AS z2,
      s.n * 1e0 / (1 + COALESCE(q.rho, 1e0) * (s.n2 * 1e0 / s.n - 1)) AS effective
    FROM clusters s LEFT JOIN correlations q ON s.label - MOD(s.label, $technologies) = q.label) AS sized) AS c
  ON t.cell = c.cell AND t.label = c.label
LEFT JOIN fence_ranks f ON t.cell = f.cell AND t.label = f.label
LEFT JOIN ping_ranks r ON t.cell = r.cell AND t.label = r.label;
