"use strict";

const percent = value => (value * 100).toFixed(1) + " %";
const milliseconds = value => (value / 1000).toFixed(1) + " ms";
const COLOURS = ["#2c7fb8", "#7fcdbb", "#ffffcc", "#fdae61", "#d7191c"];
const FIGURES = {
  share: { title: "without coverage", say: percent, steps: [0.01, 0.05, 0.2, 0.5] },
  loss: { title: "pings lost", say: percent, steps: [0.005, 0.02, 0.1, 0.4] },
  ping_p50_us: { title: "p50 of pings", say: milliseconds, steps: [2e4, 3e4, 5e4, 1e5] },
  ping_p95_us: { title: "p95 of pings", say: milliseconds, steps: [3e4, 5e4, 1e5, 2e5] },
  ping_p99_us: { title: "p99 of pings", say: milliseconds, steps: [3e4, 6e4, 1.2e5, 3e5] },
};
const ROWS = { share: percent, low: percent, high: percent, loss: percent, ping_p50_us: milliseconds, ping_p95_us: milliseconds,
  ping_p99_us: milliseconds, signal_dbm: value => value + " dBm", fences: String, devices: String };

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

function address() {
  const parts = ["period", "operator", "technology"].map(id => encodeURIComponent(element(id).value));
  return `${location.origin}/tiles/${parts.join("/")}/{z}/{x}/{y}`;
}

function colours() {
  const { steps, say } = FIGURES[element("figure").value];
  element("legend").replaceChildren(...COLOURS.map((colour, index) => {
    const row = node("div"), swatch = node("i");
    swatch.style.background = colour;
    row.append(swatch, node("span", index === 0 ? `below ${say(steps[0])}` : `from ${say(steps[index - 1])}`));
    return row;
  }));
  const figure = element("figure").value;
  const step = ["step", ["get", figure], COLOURS[0], ...steps.flatMap((bound, index) => [bound, COLOURS[index + 1]])];
  return ["case", ["has", figure], step, "rgba(0, 0, 0, 0)"];
}

function show(map, feature, where) {
  const table = node("table");
  for (const [key, say] of Object.entries(ROWS)) {
    const row = node("tr"), value = feature.properties[key];
    row.append(node("td", FIGURES[key]?.title ?? key), node("td", value === undefined ? "-" : say(value)));
    table.append(row);
  }
  const content = node("div", feature.properties.cell);
  content.append(table);
  new maplibregl.Popup({ maxWidth: "300px" }).setLngLat(where).setDOMContent(content).addTo(map);
}

(async () => {
  const choices = await (await fetch("choices.json")).json();
  fill(element("figure"), Object.keys(FIGURES), key => FIGURES[key].title);
  fill(element("operator"), choices.operators);
  fill(element("technology"), ["all", ...choices.technologies.filter(name => name !== "all")]);
  fill(element("period"), choices.periods);
  const map = window.served = new maplibregl.Map({
    container: "map", bounds: choices.box, fitBoundsOptions: { padding: { top: 20, bottom: 20, left: innerWidth > 600 ? 280 : 20, right: 20 } },
    attributionControl: false, fadeDuration: 0,
    style: {
      version: 8,
      sources: { cells: { type: "vector", tiles: [address()], minzoom: 4, maxzoom: 12 } },
      layers: [
        { id: "cells", type: "fill", source: "cells", "source-layer": "cells", paint: { "fill-color": colours(), "fill-opacity": 0.8 } },
        { id: "edges", type: "line", source: "cells", "source-layer": "cells", paint: { "line-color": "#555", "line-width": 0.4 } }],
    },
  });
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl());
  map.on("click", "cells", event => show(map, event.features[0], event.lngLat));
  element("choices").addEventListener("change", () => {
    map.setPaintProperty("cells", "fill-color", colours());
    map.getSource("cells").setTiles([address()]);
  });
})();
