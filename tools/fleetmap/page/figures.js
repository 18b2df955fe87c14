"use strict";
// What both pages show: the figures with their classes, the rows of a cell, the legend.

const percent = value => (value * 100).toFixed(1) + " %";
const milliseconds = value => (value / 1000).toFixed(1) + " ms";
const whole = value => Math.round(value).toLocaleString("en");
const REDS = ["#2c7fb8", "#7fcdbb", "#ffffcc", "#fdae61", "#d7191c"];
const DIFFERENCES = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"];

// `steps` are the lower bounds of the colours after the first; `apart` those of differences.
const FIGURES = {
  share: { title: "without coverage", say: percent, steps: [0.01, 0.05, 0.2, 0.5], apart: [-0.2, -0.05, 0.05, 0.2] },
  loss: { title: "pings lost", say: percent, steps: [0.005, 0.02, 0.1, 0.4], apart: [-0.1, -0.02, 0.02, 0.1] },
  ping_p50_us: { title: "p50 of pings", say: milliseconds, steps: [2e4, 3e4, 5e4, 1e5], apart: [-2e4, -3e3, 3e3, 2e4] },
  ping_p95_us: { title: "p95 of pings", say: milliseconds, steps: [3e4, 5e4, 1e5, 2e5], apart: [-4e4, -5e3, 5e3, 4e4] },
  ping_p99_us: { title: "p99 of pings", say: milliseconds, steps: [3e4, 6e4, 1.2e5, 3e5], apart: [-6e4, -8e3, 8e3, 6e4] },
  fence_p50_us: { title: "p50 of fences' means", say: milliseconds, steps: [2e4, 3e4, 5e4, 1e5], apart: [-2e4, -3e3, 3e3, 2e4] },
  fence_p95_us: { title: "p95 of fences' means", say: milliseconds, steps: [3e4, 5e4, 1e5, 2e5], apart: [-4e4, -5e3, 5e3, 4e4] },
  signal_dbm: { title: "signal", say: value => Math.round(value) + " dBm", steps: [-110, -100, -90, -80], apart: [-12, -3, 3, 12], isGood: true },
  fences: { title: "fences", say: whole, steps: [50, 100, 300, 1000], apart: [-300, -30, 30, 300], isGood: true },
};
const ROWS = [["without coverage", "share", percent], ["at least", "low", percent], ["at most", "high", percent], ["pings lost", "loss", percent],
  ["p50 of pings", "ping_p50_us", milliseconds], ["p95 of pings", "ping_p95_us", milliseconds], ["p99 of pings", "ping_p99_us", milliseconds],
  ["signal", "signal_dbm", FIGURES.signal_dbm.say], ["fences", "fences", whole], ["effective fences", "effective", whole],
  ["devices", "devices", whole], ["drives", "drives", whole], ["metres", "metres", whole]];

const element = id => document.getElementById(id);

function node(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

function fill(select, values, say = value => value) {
  for (const value of values) {
    const option = node("option", say(value));
    option.value = value;
    select.append(option);
  }
}

// The colours of a figure, or of its differences, and the bounds between them.
function classes(figure, isDifference) {
  const colours = [...(isDifference ? DIFFERENCES : REDS)];
  if (FIGURES[figure].isGood) colours.reverse();
  return { colours, bounds: FIGURES[figure][isDifference ? "apart" : "steps"] };
}

function drawLegend(figure, isDifference) {
  const { colours, bounds } = classes(figure, isDifference);
  const say = value => (isDifference && value > 0 ? "+" : "") + FIGURES[figure].say(value);
  element("legend").replaceChildren(...colours.map((colour, index) => {
    const row = node("div"), swatch = node("i");
    swatch.style.background = colour;
    row.append(swatch, node("span", index === 0 ? `below ${say(bounds[0])}` : `from ${say(bounds[index - 1])}`));
    return row;
  }));
}

// What a map does not show.
function said(notes) {
  const hidden = notes.hidden.map(([operator, cells]) => `${operator}: ${whole(cells)}`).join(", ");
  return `Cells (${notes.grid}) with fewer than ${notes.least_fences} fences or ${notes.least_devices} devices in a period are hidden in that period.`
    + ` Hidden in one period or more: ${hidden || "none"}. Operators are compared only where each has enough.`
    + (notes.damaged.length ? ` Periods left out, because files of the data set are damaged: ${notes.damaged.join(", ")}.` : "");
}

// The figures of a cell: a column for each operator, with its title and its value of a figure.
function popup(map, where, name, columns) {
  const table = node("table");
  const add = (first, texts) => {
    const row = node("tr");
    row.append(node("td", first), ...texts.map(text => node("td", text)));
    table.append(row);
  };
  add("", columns.map(([title]) => title));
  for (const [title, key, say] of ROWS)
    add(title, columns.map(([, valueOf]) => valueOf(key)).map(value => (value === null ? "-" : say(value))));
  const content = node("div", name);
  content.append(table);
  new maplibregl.Popup({ maxWidth: "300px" }).setLngLat(where).setDOMContent(content).addTo(map);
}
