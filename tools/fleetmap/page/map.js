"use strict";

const percent = value => (value * 100).toFixed(1) + " %";
const milliseconds = value => (value / 1000).toFixed(1) + " ms";
const whole = value => Math.round(value).toLocaleString("en");
const REDS = ["#2c7fb8", "#7fcdbb", "#ffffcc", "#fdae61", "#d7191c"];
const DIFFERENCES = ["#2166ac", "#92c5de", "#f7f7f7", "#f4a582", "#b2182b"];

// `steps` are the lower bounds of the colours after the first; `apart` those of differences.
const FIGURES = {
  share: { title: "without coverage", say: percent, steps: [0.01, 0.05, 0.2, 0.5], apart: [-0.2, -0.05, 0.05, 0.2], range: true },
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

// The figures of a slice by cell: the place in its columns.
function places(slice) {
  return new Map((slice?.n ?? []).map((cell, place) => [cell, place]));
}

class Page {
  constructor(data, tiles) {
    this.data = data;
    const parts = [0, 1, 2].map(place => [...new Set(Object.keys(data.slices).map(key => key.split("\x1f")[place]))].sort());
    fill(element("figure"), Object.keys(FIGURES), key => FIGURES[key].title);
    fill(element("operator"), parts[0]);
    fill(element("other"), parts[0]);
    fill(element("technology"), ["all", ...parts[1].filter(name => name !== "all")]);
    fill(element("period"), parts[2].reverse());
    const notes = data.notes;
    const hidden = notes.hidden.map(([operator, cells]) => `${operator}: ${whole(cells)}`).join(", ");
    element("notes").textContent = `Cells (${notes.grid}) with fewer than ${notes.least_fences} fences or ${notes.least_devices} devices are hidden`
      + (hidden ? `, in all periods together ${hidden}.` : ": none.") + " Operators are compared only where each has enough.";
    maplibregl.addProtocol("cells", async request => {
      const [z, x, y] = request.url.split("//")[1].split("/").map(Number);
      return { data: (await tiles.tile(z, x, y)).buffer };
    });
    this.map = new maplibregl.Map({
      container: "map", bounds: data.box, fitBoundsOptions: { padding: { top: 20, bottom: 20, left: innerWidth > 600 ? 280 : 20, right: 20 } },
      attributionControl: false, preserveDrawingBuffer: true, fadeDuration: 0,
      style: {
        version: 8,
        sources: { cells: { type: "vector", tiles: ["cells://{z}/{x}/{y}"], minzoom: 4, maxzoom: data.detail, promoteId: "n" } },
        layers: [
          { id: "cells", type: "fill", source: "cells", "source-layer": "cells", paint: {
            "fill-color": ["coalesce", ["feature-state", "color"], "#000"], "fill-opacity": ["case", ["!=", ["feature-state", "color"], null], 0.8, 0] } },
          { id: "edges", type: "line", source: "cells", "source-layer": "cells", paint: {
            "line-color": "#555", "line-width": 0.4, "line-opacity": ["case", ["!=", ["feature-state", "color"], null], 0.7, 0] } }],
      },
    });
    this.map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
    this.map.addControl(new maplibregl.ScaleControl());
    this.map.on("load", () => this.draw());
    this.map.on("click", "cells", event => this.show(event.features[0].id, event.lngLat));
    element("choices").addEventListener("change", () => this.draw());
  }

  choice() {
    const [figure, operator, other, technology, period] = ["figure", "operator", "other", "technology", "period"].map(id => element(id).value);
    const slice = name => this.data.slices[[name, technology, period].join("\x1f")];
    return { figure, operator, other, own: slice(operator), others: other ? slice(other) : null };
  }

  // The value of each cell that is drawn.
  values() {
    const { figure, other, own, others } = this.choice();
    const found = new Map(), there = places(others);
    (own?.n ?? []).forEach((cell, place) => {
      const value = own[figure][place];
      if (value === null) return;
      if (!other) return found.set(cell, value);
      const beside = there.has(cell) ? others[figure][there.get(cell)] : null;
      if (beside !== null) found.set(cell, value - beside);
    });
    return found;
  }

  draw() {
    const { figure, other, own, operator } = this.choice();
    const { say, steps, apart, isGood } = FIGURES[figure];
    const bounds = other ? apart : steps;
    const colours = [...(other ? DIFFERENCES : REDS)];
    if (isGood) colours.reverse();
    this.map.removeFeatureState({ source: "cells", sourceLayer: "cells" });
    this.drawn = this.values();
    for (const [cell, value] of this.drawn)
      this.map.setFeatureState({ source: "cells", sourceLayer: "cells", id: cell }, { color: colours[bounds.filter(bound => value >= bound).length] });
    const legend = element("legend");
    legend.replaceChildren(...colours.map((colour, index) => {
      const row = node("div"), swatch = node("i");
      swatch.style.background = colour;
      const sign = value => (other && value > 0 ? "+" : "") + say(value);
      row.append(swatch, node("span", index === 0 ? `below ${sign(bounds[0])}` : `from ${sign(bounds[index - 1])}`));
      return row;
    }));
    const fences = (own?.fences ?? []).reduce((sum, value) => sum + value, 0);
    element("summary").textContent = other
      ? `${operator} minus ${other}: ${whole(this.drawn.size)} cells where both have enough` : `${whole(this.drawn.size)} cells, ${whole(fences)} fences`;
    document.body.dataset.drawn = String(this.drawn.size);
  }

  show(cell, where) {
    if (!this.drawn.has(cell)) return;
    const { operator, other, own, others } = this.choice();
    const table = node("table");
    const slices = [[operator, own], ...(other ? [[other, others]] : [])].map(([name, slice]) => [name, slice, places(slice).get(cell)]);
    const row = (first, texts) => {
      const made = node("tr");
      made.append(node("td", first), ...texts.map(text => node("td", text)));
      table.append(made);
    };
    row("", slices.map(([name]) => name));
    for (const [title, key, say] of ROWS)
      row(title, slices.map(([, slice, place]) => (slice[key][place] === null ? "-" : say(slice[key][place]))));
    const content = node("div", this.data.cells[cell]);
    content.append(table);
    new maplibregl.Popup({ maxWidth: "300px" }).setLngLat(where).setDOMContent(content).addTo(this.map);
  }
}

(async () => {
  const [data, tiles] = await Promise.all(["data", "tiles"].map(id => unpack(element(id).textContent)));
  window.page = new Page(JSON.parse(new TextDecoder().decode(data)), new Tiles(tiles));
})();
