"use strict";

const chosen = id => element(id).value;

function addresses() {
  const parts = ["period", "operator", "technology", "figure"].map(id => encodeURIComponent(chosen(id)));
  return [`${location.origin}/tiles/${parts.join("/")}/{z}/{x}/{y}?minus=${encodeURIComponent(chosen("other"))}`];
}

function paint() {
  const { colours, bounds } = classes(chosen("figure"), Boolean(chosen("other")));
  drawLegend(chosen("figure"), Boolean(chosen("other")));
  element("summary").textContent = chosen("other") ? `${chosen("operator")} minus ${chosen("other")}, where both have enough` : "";
  return ["step", ["get", "value"], colours[0], ...bounds.flatMap((bound, index) => [bound, colours[index + 1]])];
}

async function show(map, cell, where) {
  const operators = [chosen("operator"), chosen("other")].filter(Boolean);
  const query = operators.map(name => `operator=${encodeURIComponent(name)}`).join("&");
  const found = await (await fetch(`cells/${encodeURIComponent(chosen("period"))}/${encodeURIComponent(chosen("technology"))}/${cell}?${query}`)).json();
  popup(map, where, cell, operators.filter(name => found[name]).map(name => [name, key => found[name][key]]));
}

(async () => {
  const choices = await (await fetch("choices.json")).json();
  fill(element("figure"), Object.keys(FIGURES), key => FIGURES[key].title);
  fill(element("operator"), choices.operators);
  fill(element("other"), choices.operators);
  fill(element("technology"), ["all", ...choices.technologies.filter(name => name !== "all")]);
  fill(element("period"), choices.periods);
  element("notes").textContent = said(choices.notes) + " Cells are coarser at low zooms.";
  const map = window.served = new maplibregl.Map({
    container: "map", bounds: choices.box, fitBoundsOptions: { padding: { top: 20, bottom: 20, left: innerWidth > 600 ? 280 : 20, right: 20 } },
    attributionControl: false, fadeDuration: 0,
    style: {
      version: 8,
      sources: { cells: { type: "vector", tiles: addresses(), minzoom: 4, maxzoom: 12 } },
      layers: [
        { id: "cells", type: "fill", source: "cells", "source-layer": "cells", paint: { "fill-color": paint(), "fill-opacity": 0.8 } },
        { id: "edges", type: "line", source: "cells", "source-layer": "cells", paint: { "line-color": "#555", "line-width": 0.4 } }],
    },
  });
  map.addControl(new maplibregl.NavigationControl({ showCompass: false }), "top-right");
  map.addControl(new maplibregl.ScaleControl());
  map.on("click", "cells", event => show(map, event.features[0].properties.cell, event.lngLat));
  element("choices").addEventListener("change", () => {
    map.setPaintProperty("cells", "fill-color", paint());
    map.getSource("cells").setTiles(addresses());
  });
})();
