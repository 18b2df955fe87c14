// A quiet ground: few hues, so that the fences stand out. Layers and classes by the names of the schemas OpenMapTiles (class), Protomaps (kind,
// kind_detail) and Shortbread (kind); all other layers are thin lines.

// In the order of drawing: name, light, dark, width in pixels at zoom 14 (none: filled), and dashes.
const groundLooks = [
  ["bare", "#eceae4", "#1b2024"], ["built", "#e3e5e9", "#182129"], ["green", "#dce7da", "#13241c"], ["water", "#c4d7e4", "#0b2b40"],
  ["river", "#b5cddd", "#0f364f", 1.4], ["building", "#d6dade", "#202b34"], ["other", "#c2c8ce", "#2b3740", 0.7], ["path", "#c9ced3", "#2d3943", 0.8, [3, 3]],
  ["minorEdge", "#cbd1d7", "#0f171d", 3.2], ["majorEdge", "#bcc4cb", "#0f171d", 5], ["motorwayEdge", "#a9b3bc", "#0f171d", 6.4],
  ["minor", "#ffffff", "#2a3640", 2.2], ["major", "#ffffff", "#364450", 3.6], ["motorway", "#fbf3df", "#465462", 4.8],
  ["rail", "#9fa8b0", "#51606c", 1.2, [6, 3]], ["boundary", "#9aa1b0", "#5b6878", 1.2, [8, 4, 2, 4]],
].map(([name, light, dark, width, dashes]) => ({ name, light, dark, width, dashes: dashes ?? [] }));

const greenClasses = /wood|forest|grass|park|cemetery|reserve|scrub|meadow|farm|orchard|vineyard|garden|golf|recreation|pitch|playground|wetland|heath|allotment|green|protected|swamp|marsh|bog|mangrove/;
const builtClasses = /residential|commercial|industrial|retail|suburb|urban|school|universit|college|hospital|railway|neighbourhood|quarter|garage|military|aerodrome|airfield|pedestrian|harbour|construction|landfill|quarry|prison/;
const bareClasses = /sand|beach|glacier|ice|rock|barren|scree|shingle|mud/;
const silentLayers = new Set(["earth", "poi", "pois", "housenumber", "addresses", "transportation_name", "street_labels", "street_labels_points", "streets_polygons_labels",
  "water_name", "water_polygons_labels", "water_lines_labels", "mountain_peak", "boundary_labels", "public_transport", "aerodrome_label", "pois_labels"]);

// What a feature is, in one word; a hostile tile can have texts of megabytes.
function groundClass(tags) { return String(tags.get("class") ?? tags.get("kind") ?? tags.get("pmap:kind") ?? tags.get("highway") ?? "").slice(0, 40); }

// The looks of a feature, as names of `groundLooks`.
function looksOfFeature(layer, { kind, tags }) {
  if (kind !== 2 && kind !== 3 || silentLayers.has(layer)) return [];
  const named = groundClass(tags);
  switch (layer) {
    case "water": case "water_polygons": case "ocean": case "waterway": case "water_lines": case "dam_polygons":
      return kind === 3 ? ["water"] : ["river"];
    case "landcover": case "landuse": case "land": case "park": case "sites": case "natural": case "landuse_overlay":
      if (kind !== 3) return [];
      return greenClasses.test(named) || layer === "park" ? ["green"] : builtClasses.test(named) ? ["built"] : bareClasses.test(named) ? ["bare"] : [];
    case "building": case "buildings": return kind === 3 ? ["building"] : [];
    case "boundary": case "boundaries": return boundaryLooks(tags, named);
    case "transportation": case "roads": case "road": case "streets": case "transit": case "bridges": return roadLooks(kind, tags, named);
    case "aeroway": case "street_polygons": case "pier_polygons": return kind === 3 ? ["built"] : ["minor"];
    default: return ["other"];
  }
}

function boundaryLooks(tags, named) {
  const level = Number(tags.get("admin_level") ?? tags.get("pmap:min_admin_level") ?? tags.get("kind_detail"));
  const isAtSea = tags.get("maritime") === true || tags.get("maritime") === 1;
  return !isAtSea && (level <= 4 || named === "country" || named === "region") ? ["boundary"] : [];
}

function roadLooks(kind, tags, named) {
  if (kind === 3) return ["built"];
  const isRail = /rail|tram|subway|transit|funicular|monorail/.test(named) || tags.get("rail") === true;
  if (isRail) return ["rail"];
  if (/motorway|trunk|highway/.test(named)) return ["motorwayEdge", "motorway"];
  if (/primary|secondary|tertiary|major_road|medium_road/.test(named)) return ["majorEdge", "major"];
  if (/path|footway|track|steps|cycleway|bridleway|pier|ferry|aerialway/.test(named)) return ["path"];
  return ["minorEdge", "minor"];
}

// The width of a line in pixels.
function groundWidth(width, zoom) { return Math.max(0.5, width * 1.3 ** (zoom - 14)); }

// The name of a place, and how large it is written; null for anything else. 0 is the most important.
const placeRanks = [/^(country|continent)/, /^(city|capital)/, /^(state|region|province|county)/, /^town/, /^village/, /^(suburb|borough|quarter|macrohood)/];

function labelOfFeature(layer, { kind, tags }) {
  if (kind !== 1 || !["place", "places", "place_labels"].includes(layer)) return null;
  const name = String(tags.get("name") ?? "").slice(0, 200).trim();
  if (!name) return null;
  const named = String(tags.get("kind_detail") ?? groundClass(tags)).slice(0, 40), rank = placeRanks.findIndex((rule) => rule.test(named));
  return { name: name.slice(0, 40), rank: rank < 0 ? placeRanks.length : rank };
}
