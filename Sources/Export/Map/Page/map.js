// The page: map, time line, sessions and controls on one state. `add(chunk)` adds fences at any time.
class CoverageMap {
  constructor(settings) {
    this.settings = settings;
    this.columns = new Map(settings.columns.map(([name, kind, meaning]) => [name, { kind, meaning }]));
    this.views = makeViews(settings.technologies);
    const table = new FenceTable();
    this.state = {
      table, selection: null, onlySession: -1, onlyLink: -1, classes: new Uint8Array(0), colours: [], style: {}, hasTiles: Boolean(settings.tiles),
      isShown: (i) => this.state.onlyLink < 0 || table.link[i] === this.state.onlyLink,
      isSelected: (i) => this.isSelected(i),
      isHollow: (i) => this.hollow.has(i),
    };
    this.hollow = new Set();
    this.pinned = -1;
    this.playing = 0;
    this.makeMap();
    this.timeline = new Timeline(byId("timeline"), this.state, {
      hover: (i) => this.hover(i), pick: (i) => this.pick(i, true), select: (range) => this.select(range), play: () => this.togglePlay(),
    });
    this.sessions = new SessionsTable(document.querySelector("table"), this.state, (number) => this.showSession(number));
    this.makeControls();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  }

  // Adds the fences of chunks, and shows all of them if they are the first.
  add(...chunks) {
    const { table } = this.state, isFirst = table.count === 0;
    for (const chunk of chunks) {
      const first = table.add(chunk);
      for (let i = first; i < table.count; i++) if (!table.isSubmittable(i)) this.hollow.add(i);
    }
    this.drawViews();
    this.drawLinks();
    this.classify();
    this.sessions.draw();
    this.chooseSpeed();
    this.drawLegend();
    if (isFirst) this.fit(() => true);
    byId("timeline").setAttribute("aria-valuemax", String(Math.max(1, table.count)));
    this.changed();
  }

  // ---- Map

  makeMap() {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.map = L.map("map", {
      zoomSnap: 0.25, wheelPxPerZoomLevel: 90, maxZoom: 20, minZoom: 1, zoomAnimation: !calm, fadeAnimation: !calm, inertia: !calm, attributionControl: true,
      worldCopyJump: true,
    });
    this.map.attributionControl.setPrefix("Leaflet");
    if (this.settings.tiles) this.addTiles(this.settings.tiles);
    L.control.scale({ imperial: false }).addTo(this.map);
    this.map.setView([48, 16], 4, { animate: false });
    this.layer = this.state.layer = new FenceLayer(this.state);
    this.layer.addTo(this.map);
    this.ring = L.DomUtil.create("div", "ring", this.map.getPane("overlayPane"));
    this.ring.hidden = true;
    // A tap is no hovering: a card that came up below the finger would get the click.
    for (const kind of ["pointerdown", "pointermove"]) {
      byId("map").addEventListener(kind, (event) => { this.isTouch = event.pointerType === "touch"; }, true);
    }
    this.map.on("mousemove", (event) => this.isTouch || this.hover(this.layer.at(event.containerPoint, 6)));
    this.map.on("mouseout", () => this.hover(-1));
    this.map.on("click", (event) => {
      const fingers = matchMedia("(pointer: coarse)").matches ? 22 : 8;
      this.pick(this.layer.at(event.containerPoint, fingers), false);
    });
    this.map.on("zoomend moveend", () => this.drawRing());
    this.layer.on("drawn", () => this.timeline?.marksLater());
    byId("map").addEventListener("keydown", (event) => { if (event.key === "Escape") this.pick(-1, false); });
  }

  addTiles(address) {
    const host = new URL(address.replace(/[{}]/g, "")).hostname;
    const attribution = host.endsWith("openstreetmap.org") ? "© OpenStreetMap contributors" : `Base map: ${host}`;
    L.tileLayer(address, { maxZoom: 20, maxNativeZoom: 19, attribution, className: "tiles" }).addTo(this.map);
  }

  fit(includes) {
    const { table } = this.state;
    let [south, north, west, east] = [90, -90, Infinity, -Infinity];
    let middle;
    for (let i = 0; i < table.count; i++) {
      if (!includes(i) || !this.state.isShown(i)) continue;
      middle ??= table.longitude[i];
      const longitude = table.longitude[i] - 360 * Math.round((table.longitude[i] - middle) / 360);
      [south, north] = [Math.min(south, table.latitude[i]), Math.max(north, table.latitude[i])];
      [west, east] = [Math.min(west, longitude), Math.max(east, longitude)];
    }
    if (south > north) return;
    // On a narrow page the legend is above the fences.
    const legend = byId("legend"), isNarrow = this.map.getSize().x < 600, top = isNarrow ? legend.offsetTop + legend.offsetHeight + 20 : 40;
    const side = isNarrow ? 24 : 40;
    this.map.fitBounds([[south, west], [north, east]], { paddingTopLeft: [side, top], paddingBottomRight: [side, 40], maxZoom: 17, animate: false });
  }

  drawRing() {
    const i = this.shown ?? -1, { table } = this.state;
    this.ring.hidden = i < 0;
    if (i < 0) return;
    const radius = Math.max(8, table.reach[i] * 256 * 2 ** this.map.getZoom() + 2);
    const point = this.map.latLngToLayerPoint([table.latitude[i], table.longitude[i]]);
    this.ring.style.width = this.ring.style.height = `${radius * 2}px`;
    L.DomUtil.setPosition(this.ring, L.point(point.x - radius, point.y - radius));
  }

  // ---- One fence

  hover(i) {
    if (this.playing) return;
    this.show(i >= 0 ? i : this.pinned);
  }

  // A click or a tap keeps the fence's figures.
  pick(i, pans) {
    this.pinned = i;
    this.show(i);
    if (i >= 0 && pans) this.follow(i);
    if (i >= 0) this.uncover(i);
  }

  // On a narrow page the card is below the map's middle; the fence goes above it.
  uncover(i) {
    const { table } = this.state, card = byId("card");
    const point = this.map.latLngToContainerPoint([table.latitude[i], table.longitude[i]]);
    if (card.offsetWidth < this.map.getSize().x * 0.7 || point.y < card.offsetTop - 16) return;
    this.map.panBy([0, point.y - card.offsetTop * 0.7], { animate: false });
  }

  follow(i) {
    const { table } = this.state, place = L.latLng(table.latitude[i], table.longitude[i]);
    if (!this.map.getBounds().pad(-0.12).contains(place)) this.map.panTo(place, { animate: false });
  }

  show(i) {
    if (i === this.shown && i !== this.pinned) return;
    this.shown = i;
    this.drawRing();
    this.timeline.show(i);
    this.drawCard(i);
    const { table } = this.state, slider = byId("timeline");
    byId("readout").textContent = i < 0 ? "" : `${table.day(i)} ${table.time(i)}`.trim();
    if (i >= 0) {
      slider.setAttribute("aria-valuenow", String(table.rank[i] + 1));
      slider.setAttribute("aria-valuetext", this.sentence(i));
    }
  }

  sentence(i) {
    const { table } = this.state;
    const delay = Number.isNaN(table.mean[i]) ? "no answer" : `${table.mean[i].toFixed(1)} ms`;
    return `${table.time(i)}, ${table.value("technology", i) ?? "technology unknown"}, ${delay}, ${percent(table.lost[i], table.pings[i])} lost`;
  }

  drawCard(i) {
    const card = byId("card"), { table } = this.state;
    card.hidden = i < 0;
    card.setAttribute("aria-live", i === this.pinned ? "polite" : "off");
    if (i < 0) return;
    const wasOpen = card.querySelector("details")?.open ?? false;
    const milliseconds = (name) => Number.isNaN(table[name][i]) ? "–" : `${table[name][i].toFixed(1)} ms`;
    const head = make("h2");
    head.append(dot(this.state.colours[this.state.classes[i]]), make("span", table.value("technology", i) ?? "No technology"));
    const where = [
      `${table.day(i)} ${table.time(i)}`.trim(), table.links.length > 1 ? `link ${table.links[table.link[i]] || "without name"}` : "",
      table.value("operator_name", i) ?? table.value("operator", i) ?? "",
    ];
    const figures = make("div", undefined, "figures");
    for (const [name, value] of [["median", milliseconds("median")], ["95 %", milliseconds("p95")], ["lost", percent(table.lost[i], table.pings[i])]]) {
      const box = make("div");
      const [number, unit = ""] = value.split(" ");
      box.append(make("b", number), make("span", `${unit} ${name}`));
      figures.append(box);
    }
    const rows = [
      ["mean", milliseconds("mean")], ["shortest", milliseconds("minimum")], ["longest", milliseconds("maximum")],
      ["variation", milliseconds("variation")], ["pings", `${table.pings[i]}, ${table.lost[i]} lost`],
      ["radius", `${table.radius[i].toFixed(1)} m`], ["time in it", Number.isNaN(table.duration[i]) ? "–" : `${(table.duration[i] / 1000).toFixed(1)} s`],
      ...(Number.isNaN(table.signal[i]) ? [] : [["min signal", `${table.signal[i].toFixed(1)} dBm`]]),
      ...(table.isSubmittable(i) ? [] : [["Wi-Fi", "touched: not submitted"]]),
    ];
    const all = make("details");
    all.open = wasOpen;
    all.append(make("summary", "All figures"), list(this.allFigures(i)));
    const parts = [head, make("p", where.filter(Boolean).join(" · ")), figures, list(rows), all];
    if (i === this.pinned) {
      const close = make("button", "×", "close");
      close.type = "button";
      close.setAttribute("aria-label", "Close");
      close.addEventListener("click", () => this.pick(-1, false));
      parts.push(close);
    }
    card.replaceChildren(...parts);
  }

  // Under the names of the exports.
  allFigures(i) {
    const rows = [];
    for (const [name, { kind, meaning }] of this.columns) {
      if (["technology_class", "signal_dbm", "drive_session"].includes(name)) continue;
      let value = this.state.table.value(name, i);
      if (value === undefined) continue;
      if (kind === "time") value = new Date(value).toISOString();
      if (kind === "boolean") value = value ? "true" : "false";
      if (kind === "object") value = JSON.stringify(value);
      rows.push([name, String(value), meaning]);
    }
    return rows;
  }

  // ---- Selection

  isSelected(i) {
    const { selection, table, onlySession } = this.state;
    if (onlySession >= 0 && table.session[i] !== onlySession) return false;
    return !selection || (table.rank[i] >= selection.from && table.rank[i] <= selection.to);
  }

  select(range, session = -1) {
    this.state.selection = range;
    this.state.onlySession = session;
    byId("zoom").disabled = byId("clear").disabled = !range;
    this.sessions.mark(session);
    this.layer.later();
    this.timeline.drawMarks();
    this.drawTotals();
    this.drawLegend();
  }

  showSession(number) {
    const { table } = this.state;
    let [from, to] = [Infinity, -1];
    for (let i = 0; i < table.count; i++) {
      if (table.session[i] === number) [from, to] = [Math.min(from, table.rank[i]), Math.max(to, table.rank[i])];
    }
    if (to < 0) return;
    if (this.state.onlyLink >= 0 && this.state.onlyLink !== table.sessions[number].link) this.setLink(table.sessions[number].link);
    this.select({ from, to }, number);
    this.fit((i) => this.isSelected(i));
    byId("map").scrollIntoView({ block: "nearest" });
  }

  // ---- Play

  togglePlay() { this.playing ? this.stop() : this.play(); }

  play() {
    const { table, selection } = this.state;
    if (!table.count) return;
    const from = selection?.from ?? 0, to = selection?.to ?? table.count - 1;
    const end = table.along[to] + (table.duration[table.order[to]] || 0);
    let place = this.shown >= 0 ? table.rank[this.shown] : from;
    if (place < from || place >= to) place = from;
    let along = table.along[place], last;
    byId("play").textContent = "Pause";
    const step = (now) => {
      along += (last === undefined ? 0 : Math.min(200, now - last)) * Number(byId("speed").value);
      last = now;
      const i = table.order[Math.min(to, table.placeAt(along))];
      if (this.state.isShown(i)) {
        this.show(i);
        this.follow(i);
        this.uncover(i);
      }
      if (along >= end) return this.stop();
      this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.pinned = this.shown ?? -1;
    byId("play").textContent = "Play";
    this.drawCard(this.pinned);
  }

  // ---- Controls

  makeControls() {
    byId("theme").addEventListener("click", () => this.setTheme(!this.isDark));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches));
    byId("play").addEventListener("click", () => this.togglePlay());
    byId("clear").addEventListener("click", () => this.select(null));
    byId("zoom").addEventListener("click", () => this.fit((i) => this.isSelected(i)));
    byId("links").querySelector("select").addEventListener("change", (event) => this.setLink(Number(event.target.value)));
    byId("speed").addEventListener("change", () => { this.hasSpeed = true; });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // On paper the page is light, and the same part of the map is on another size.
  print(isPaper) {
    const bounds = this.map.getBounds();
    if (isPaper) [this.wasDark, this.view0] = [this.isDark, [this.map.getCenter(), this.map.getZoom()]];
    document.documentElement.classList.toggle("paper", isPaper);
    this.map.invalidateSize({ animate: false });
    if (isPaper) this.map.fitBounds(bounds, { animate: false });
    else this.map.setView(...this.view0, { animate: false });
    this.setTheme(isPaper ? false : this.wasDark);
  }

  // A play of a minute at most, unless somebody has chosen.
  chooseSpeed() {
    if (this.hasSpeed) return;
    const options = [...byId("speed").options].map((option) => option.value);
    byId("speed").value = options.find((speed) => this.state.table.length / 1000 / speed <= 60) ?? options[options.length - 1];
  }

  drawViews() {
    const known = this.views.filter((view) => view.has(this.state.table));
    if (known.length === byId("views").querySelectorAll("input").length) return;
    this.view = known.find((view) => view.key === this.view?.key) ?? known[0];
    const choices = known.map((view) => {
      const label = make("label"), input = make("input");
      Object.assign(input, { type: "radio", name: "view", value: view.key, checked: view === this.view });
      label.title = view.title;
      input.setAttribute("aria-label", view.title);
      input.addEventListener("change", () => this.setView(view));
      label.append(input, make("span", view.label));
      return label;
    });
    byId("views").replaceChildren(byId("views").querySelector("legend"), ...choices);
  }

  drawLinks() {
    const { table } = this.state, select = byId("links").querySelector("select");
    byId("links").hidden = table.links.length < 2;
    if (select.options.length === table.links.length + 1) return;
    select.replaceChildren(...["all", ...table.links].map((name, place) => {
      const option = make("option", name || "without name");
      option.value = String(place - 1);
      return option;
    }));
    select.value = String(this.state.onlyLink);
  }

  setView(view) {
    this.view = view;
    this.classify();
    this.changed();
    if (this.shown >= 0) this.drawCard(this.shown);
  }

  setLink(link) {
    this.state.onlyLink = link;
    byId("links").querySelector("select").value = String(link);
    if (this.pinned >= 0 && !this.state.isShown(this.pinned)) this.pick(-1, false);
    this.changed();
  }

  setTheme(isDark) {
    this.isDark = isDark;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "grid", "delay", "band", "loss", "shade"]) this.state.style[name] = style.getPropertyValue(`--${name}`);
    this.state.style.font = style.fontFamily;
    this.changed();
  }

  // ---- What depends on the whole state

  classify() {
    const { table } = this.state;
    if (this.state.classes.length < table.capacity) this.state.classes = new Uint8Array(table.capacity);
    this.state.colours = this.view.colours;
    for (let i = 0; i < table.count; i++) this.state.classes[i] = this.view.classOf(table, i);
  }

  changed() {
    this.layer.redraw();
    this.timeline.draw();
    this.drawTotals();
    this.drawLegend();
  }

  includes(i) { return this.state.isShown(i) && this.isSelected(i); }

  drawTotals() {
    const { table } = this.state, sums = table.totals((i) => this.includes(i));
    byId("title").textContent = `${sums.fences.toLocaleString("en")} ${sums.fences === 1 ? "fence" : "fences"}${this.state.selection ? " selected" : ""}`;
    document.title = `Coverage map: ${table.count.toLocaleString("en")} ${table.count === 1 ? "fence" : "fences"}`;
    const totals = [
      ["way", kilometres(sums.metres)], ["mean delay", sums.answered ? `${(sums.delay / sums.answered).toFixed(1)} ms` : "–"],
      ["loss", percent(sums.pings - sums.answered, sums.pings)], ["pings", sums.pings.toLocaleString("en")],
    ];
    byId("totals").replaceChildren(...totals.map(([name, value]) => {
      const part = make("div");
      part.append(make("dt", name), make("dd", value));
      return part;
    }));
  }

  drawLegend() {
    if (!this.view) return;
    const { table, classes } = this.state, counts = this.view.classes.map(() => 0);
    let all = 0;
    for (let i = 0; i < table.count; i++) {
      if (!this.includes(i)) continue;
      counts[classes[i]]++;
      all++;
    }
    const rows = this.view.classes.map((name, place) => {
      const row = make("li");
      row.append(dot(this.view.colours[place]), make("span", name), make("b", percent(counts[place], all)));
      return row;
    });
    byId("legend").replaceChildren(...rows.filter((_, place) => counts[place] > 0));
    byId("legend").hidden = all === 0;
  }
}

function byId(id) { return document.getElementById(id); }

function list(rows) {
  const list = make("dl");
  for (const [name, value, meaning] of rows) {
    const term = make("dt", name);
    if (meaning) term.title = meaning;
    const row = make("div");
    row.append(term, make("dd", value));
    list.append(row);
  }
  return list;
}

// A dot as SVG: colours in style attributes are what the page's policy forbids.
function dot(colour) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), circle = document.createElementNS(space, "circle");
  svg.setAttribute("viewBox", "0 0 10 10");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ cx: 5, cy: 5, r: 4.4, fill: colour, stroke: mixed(colour, "#000000", 0.4) })) circle.setAttribute(name, value);
  svg.append(circle);
  return svg;
}

const coverageMap = new CoverageMap(JSON.parse(byId("settings").textContent));
coverageMap.add(...[...document.querySelectorAll("script.fences")].map((part) => JSON.parse(part.textContent)));
for (const part of document.querySelectorAll("script.fences")) part.remove();
globalThis.coverageMap = coverageMap;
