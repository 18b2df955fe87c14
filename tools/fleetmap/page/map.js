"use strict";

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
    element("notes").textContent = said(data.notes);
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
    const { colours, bounds } = classes(figure, Boolean(other));
    this.map.removeFeatureState({ source: "cells", sourceLayer: "cells" });
    this.drawn = this.values();
    for (const [cell, value] of this.drawn)
      this.map.setFeatureState({ source: "cells", sourceLayer: "cells", id: cell }, { color: colours[bounds.filter(bound => value >= bound).length] });
    drawLegend(figure, Boolean(other));
    const fences = (own?.fences ?? []).reduce((sum, value) => sum + value, 0);
    element("summary").textContent = other
      ? `${operator} minus ${other}: ${whole(this.drawn.size)} cells where both have enough` : `${whole(this.drawn.size)} cells, ${whole(fences)} fences`;
    document.body.dataset.drawn = String(this.drawn.size);
  }

  show(cell, where) {
    if (!this.drawn.has(cell)) return;
    const { operator, other, own, others } = this.choice();
    const slices = [[operator, own], ...(other ? [[other, others]] : [])];
    popup(this.map, where, this.data.cells[cell], slices.map(([name, slice]) => {
      const place = places(slice).get(cell);
      return [name, key => slice[key][place]];
    }));
  }
}

(async () => {
  const [data, tiles] = await Promise.all(["data", "tiles"].map(id => unpack(element(id).textContent)));
  window.page = new Page(JSON.parse(new TextDecoder().decode(data)), new Tiles(tiles));
})();
