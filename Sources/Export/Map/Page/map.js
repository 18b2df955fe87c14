// The page: map, time line, tables and controls on one state. `add(chunk)` adds fences at any time, `addTests(list)` speed tests. An item is a
// FenceItem or a SpeedTest.
class CoverageMap {
  constructor(settings) {
    this.settings = settings;
    this.views = makeViews(settings.technologies);
    this.state = {
      selection: null, onlySession: -1, onlyLink: -1, classes: new Uint8Array(0), colours: [], style: {}, hasTiles: Boolean(settings.tiles || settings.ground),
      columns: settings.columns, testColumns: settings.speed_test_columns,
      isShown: (i) => this.state.onlyLink < 0 || this.state.table.link[i] === this.state.onlyLink,
      isSelected: (i) => this.isSelected(i),
      isTestSelected: (test) => this.isTestSelected(test),
      lookOf: (i) => looks[this.state.table.look[i]],
      projection: new Mercator(), notMeasured: settings.technologies.findIndex((entry) => entry.is_hollow),
      // -1 where the view has nothing of tests.
      classOf: (test) => this.view.classOfTest?.(test) ?? -1,
      colourOf: (test) => this.view.colours[this.state.classOf(test)] ?? neutral,
    };
    this.state.table = new FenceTable(this.state);
    this.state.tracks = new Tracks(this.state);
    this.state.tests = new SpeedTestList(this.state);
    this.state.axis = new TimeAxis(this.state.table, []);
    [this.view] = this.views;
    this.shown = this.pinned = null;
    this.card = new Card(byId("card"), () => this.pick(null, false));
    this.playing = 0;
    this.makeMap();
    this.timeline = new Timeline(byId("timeline"), this.state, {
      hover: (item) => this.hover(item), pick: (item) => this.pick(item, true), select: (range) => this.select(range), play: () => this.togglePlay(),
    });
    this.sessions = new SessionsTable(document.querySelector(".sessions table"), this.state, (number) => this.showSession(number));
    this.testTable = new SpeedTestTable(document.querySelector(".tests"), this.state, (test) => this.showTest(test));
    this.makeControls();
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
  }

  // Adds the fences of chunks, and shows all of them if they are the first.
  add(...chunks) {
    const { table } = this.state, isFirst = this.state.axis.walk.length === 0;
    for (const chunk of chunks) table.add(chunk);
    this.drawLinks();
    this.sessions.draw();
    this.grown(isFirst, chunks.flatMap((chunk) => chunk.columns.latitude));
  }

  // Adds speed tests, or other states of them.
  addTests(list) {
    const { tests } = this.state, isFirst = this.state.axis.walk.length === 0;
    tests.add(list);
    // A test that is shown may be another object now.
    const renewed = (item) => item instanceof SpeedTest ? tests.byId.get(item.id) : item;
    [this.pinned, this.shown] = [renewed(this.pinned), renewed(this.shown)];
    this.grown(isFirst, list.map((values) => values.latitude));
    this.drawTests();
    if (this.shown instanceof SpeedTest) this.show(this.shown, true);
  }

  grown(isFirst, latitudes = []) {
    this.drawViews();
    this.classify();
    // Another projection draws at once, so all that is there has its class.
    this.chooseProjection(latitudes);
    this.layOut();
    this.chooseSpeed();
    this.drawLegend();
    if (isFirst) this.fit();
    this.changed();
  }

  // Places everything on the time line.
  layOut() {
    this.state.axis = new TimeAxis(this.state.table, this.state.tests.shown);
    byId("timeline").setAttribute("aria-valuemax", String(Math.max(1, this.state.axis.walk.length)));
  }

  setTests(isShown) {
    this.state.tests.isShown = isShown;
    if (!isShown && this.pinned instanceof SpeedTest) this.pick(null, false);
    this.grown(false);
    this.drawTests();
  }

  drawTests() {
    const { tests } = this.state;
    byId("tests").hidden = !tests.all.length;
    document.querySelector(".hint .test").hidden = !tests.shown.length;
    this.testTable.draw();
    this.testTable.mark(this.pinned?.key);
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
    if (this.settings.ground) this.addBasemap(this.settings.ground);
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
    this.map.on("mousemove", (event) => this.isTouch || this.hover(this.layer.itemAt(event.containerPoint, 6)));
    this.map.on("mouseout", () => this.hover(null));
    this.map.on("click", (event) => {
      const fingers = matchMedia("(pointer: coarse)").matches ? 22 : 8;
      this.pick(this.layer.itemAt(event.containerPoint, fingers), false);
    });
    this.map.on("zoomend moveend", () => this.drawRing());
    this.layer.on("drawn", () => this.timeline?.marksLater());
    byId("map").addEventListener("keydown", (event) => { if (event.key === "Escape") this.pick(null, false); });
  }

  // Leaves Mercator as soon as a place is beyond its end.
  chooseProjection(latitudes) {
    const projection = this.state.projection.wraps ? projectionFor(latitudes) : null;
    if (!projection) return;
    const place = this.map.getCenter();
    this.state.projection = projection;
    this.state.table.placeAll();
    for (const test of this.state.tests.all) test.locate();
    // Tiles are squares of Mercator.
    this.tiles?.remove();
    this.state.basemap = null;
    this.state.tracks.placeAll();
    this.map.options.crs = projection.crs;
    this.map.setView(place, this.map.getZoom(), { animate: false });
  }

  addTiles(address) {
    const host = new URL(address.replace(/[{}]/g, "")).hostname;
    const attribution = host.endsWith("openstreetmap.org") ? "© OpenStreetMap contributors" : `Base map: ${host}`;
    this.tiles = L.tileLayer(address, { maxZoom: 20, maxNativeZoom: 19, attribution, className: "tiles" }).addTo(this.map);
  }

  addBasemap(source) {
    this.tiles = this.state.basemap = new BasemapLayer(source, this.state);
    // Names of places are drawn with the fences.
    if (source.is_vector) this.tiles.on("painted", () => this.layer?.later(true));
    this.tiles.addTo(this.map);
  }

  // Shows all fences and speed tests, or those that are selected.
  fit(onlySelected = false) {
    const { table, tests } = this.state, box = new MapBox(this.state.projection.wraps);
    for (let i = 0; i < table.count; i++) {
      if ((!onlySelected || this.isSelected(i)) && this.state.isShown(i)) box.add(table.x[i], table.y[i]);
    }
    for (const test of onlySelected ? tests.selected : tests.shown) if (test.hasPlace) box.add(test.x, test.y);
    if (box.isEmpty) return;
    // On a narrow page the legend is above the fences.
    const legend = byId("legend"), isNarrow = this.map.getSize().x < 600, top = isNarrow ? legend.offsetTop + legend.offsetHeight + 20 : 40;
    const side = isNarrow ? 24 : 40;
    this.showBox(box, side, top, 40, 17);
  }

  // Shows a part of the map within margins in pixels.
  showBox({ west, east, top, bottom }, side, above, below, mostZoom) {
    const size = this.map.getSize(), wide = Math.max(50, size.x - 2 * side), high = Math.max(50, size.y - above - below);
    const fits = Math.min(wide / (east - west), high / (bottom - top)) / 256;
    const zoom = Math.max(1, Math.min(mostZoom, Math.floor(Math.log2(fits) * 4 + 1e-6) / 4)), scale = 256 * 2 ** zoom;
    const middle = this.state.projection.place((west + east) / 2, (top + bottom) / 2 + (below - above) / 2 / scale);
    this.map.setView(middle, zoom, { animate: false });
  }

  // The part of the map in view.
  get boxInView() {
    const { min, max } = this.map.getPixelBounds(), scale = 256 * 2 ** this.map.getZoom();
    return { west: min.x / scale, east: max.x / scale, top: min.y / scale, bottom: max.y / scale };
  }

  // The copy of a place next to the middle of the view.
  nearest(place) {
    if (!this.state.projection.wraps) return place;
    return L.latLng(place.lat, place.lng + 360 * Math.round((this.map.getCenter().lng - place.lng) / 360));
  }

  // Moves the map to a place that is not in view, or within `margin` of its edges, as a share of its size.
  keepInView(place, margin) {
    const size = this.map.getSize(), near = this.nearest(place), { x, y } = this.map.latLngToContainerPoint(near);
    const isInView = x > margin * size.x && x < (1 - margin) * size.x && y > margin * size.y && y < (1 - margin) * size.y;
    if (!isInView) this.map.panTo(near, { animate: false });
  }

  drawRing() {
    const place = this.shown?.place;
    this.ring.hidden = !place;
    if (!place) return;
    const zoom = this.map.getZoom(), radius = this.shown.ringRadius(zoom), [right, down] = this.shown.shift?.(zoom) ?? [0, 0];
    const point = this.map.latLngToLayerPoint(this.nearest(place)).add([right, down]);
    this.ring.style.width = this.ring.style.height = `${radius * 2}px`;
    L.DomUtil.setPosition(this.ring, L.point(point.x - radius, point.y - radius));
  }

  // ---- One fence or speed test

  // The fence of a number.
  fence(i) { return new FenceItem(this.state, i); }

  hover(item) {
    if (this.playing) return;
    this.show(item ?? this.pinned);
  }

  // A click or a tap keeps the figures.
  pick(item, pans) {
    this.pinned = item;
    this.show(item, true);
    this.testTable.mark(item?.key);
    if (!item?.place) return;
    if (pans) this.follow(item);
    this.uncover(item);
  }

  showTest(test) {
    this.pick(test, true);
    byId("map").scrollIntoView({ block: "nearest" });
  }

  // On a narrow page the card is below the map's middle; the item goes above it.
  uncover(item) {
    const card = byId("card"), point = this.map.latLngToContainerPoint(this.nearest(item.place));
    if (card.offsetWidth < this.map.getSize().x * 0.7 || point.y < card.offsetTop - 16) return;
    this.map.panBy([0, point.y - card.offsetTop * 0.7], { animate: false });
  }

  follow({ place }) { this.keepInView(place, 0.12); }

  show(item, isNew = false) {
    if (item?.key === this.shown?.key && !isNew) return;
    this.shown = item;
    this.drawRing();
    this.timeline.show(item);
    this.drawCard();
    const { table, axis } = this.state, slider = byId("timeline");
    byId("readout").textContent = item ? table.moment(item.time) : "";
    if (item) {
      slider.setAttribute("aria-valuenow", String(axis.placeOf(item) + 1));
      slider.setAttribute("aria-valuetext", item.sentence());
    }
  }

  drawCard() {
    if (this.shown) this.card.show(this.shown, this.shown.key === this.pinned?.key);
    else this.card.hide();
  }

  // ---- Selection

  isSelected(i) {
    const { selection, table, onlySession } = this.state;
    if (onlySession >= 0 && table.session[i] !== onlySession) return false;
    return !selection || (table.rank[i] >= selection.from && table.rank[i] <= selection.to);
  }

  isTestSelected(test) {
    const { selection } = this.state;
    return !selection || (test.time <= selection.end && test.end >= selection.start);
  }

  // The ranks of the fences, and the time from the first to the last of them at least.
  selectionOf({ from, to, start = Infinity, end = -Infinity }) {
    const { table } = this.state;
    if (from > to) return { from, to, start, end };
    const last = table.order[to];
    return { from, to, start: Math.min(start, table.entered[table.order[from]]), end: Math.max(end, table.entered[last] + (table.duration[last] || 0)) };
  }

  select(range, session = -1) {
    this.state.selection = range && this.selectionOf(range);
    this.state.onlySession = session;
    byId("zoom").disabled = byId("clear").disabled = !range;
    this.sessions.mark(session);
    this.layer.later();
    if (this.state.tests.shown.length) this.timeline.draw(); else this.timeline.drawMarks();
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
    this.fit(true);
    byId("map").scrollIntoView({ block: "nearest" });
  }

  // ---- Play

  togglePlay() { this.playing ? this.stop() : this.play(); }

  play() {
    const { axis, selection } = this.state, last = axis.walk.length - 1;
    if (last < 0) return;
    const [start, end] = selection ? [axis.along(selection.start), axis.along(selection.end)] : [0, axis.length];
    // From the present item; from the beginning after the last one.
    let along = this.shown ? axis.along(this.shown.time) : start, before;
    const isAtEnd = this.shown && (selection?.to >= 0 ? axis.fences[selection.to] <= along : axis.placeOf(this.shown) >= last);
    if (along < start || along >= end || isAtEnd) along = start;
    byId("play").textContent = "Pause";
    const step = (now) => {
      along += (before === undefined ? 0 : Math.min(200, now - before)) * Number(byId("speed").value);
      before = now;
      const item = this.state.axis.itemAt(Math.min(along, end));
      if (item && (item instanceof SpeedTest || this.state.isShown(item.i))) {
        this.show(item);
        if (item.place) this.follow(item);
        if (item.place) this.uncover(item);
      }
      if (along >= end) return this.stop();
      this.playing = requestAnimationFrame(step);
    };
    this.playing = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.playing);
    this.playing = 0;
    this.pinned = this.shown;
    byId("play").textContent = "Play";
    this.drawCard();
  }

  // ---- Controls

  makeControls() {
    byId("theme").addEventListener("click", () => this.setTheme(!this.isDark));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => this.setTheme(event.matches));
    byId("play").addEventListener("click", () => this.togglePlay());
    byId("clear").addEventListener("click", () => this.select(null));
    byId("zoom").addEventListener("click", () => this.fit(true));
    byId("tests").querySelector("input").addEventListener("change", (event) => this.setTests(event.target.checked));
    byId("links").querySelector("select").addEventListener("change", (event) => this.setLink(Number(event.target.value)));
    byId("speed").addEventListener("change", () => { this.hasSpeed = true; });
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  // On paper the page is light, and the same part of the map is on another size.
  print(isPaper) {
    const box = this.boxInView;
    if (isPaper) [this.wasDark, this.view0] = [this.isDark, [this.map.getCenter(), this.map.getZoom()]];
    document.documentElement.classList.toggle("paper", isPaper);
    this.map.invalidateSize({ animate: false });
    if (isPaper) this.showBox(box, 0, 0, 0, 20);
    else this.map.setView(...this.view0, { animate: false });
    this.setTheme(isPaper ? false : this.wasDark);
  }

  // A play of a minute at most, unless somebody has chosen.
  chooseSpeed() {
    if (this.hasSpeed) return;
    const options = [...byId("speed").options].map((option) => option.value);
    byId("speed").value = options.find((speed) => this.state.axis.length / 1000 / speed <= 60) ?? options[options.length - 1];
  }

  drawViews() {
    const known = this.views.filter((view) => view.has(this.state.table, this.state.tests.shown));
    const shown = [...byId("views").querySelectorAll("input")].map((input) => input.value);
    if (known.map((view) => view.key).join() === shown.join()) return;
    this.view = known.find((view) => view.key === this.view.key) ?? known[0];
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
    this.testTable.draw();
    this.testTable.mark(this.pinned?.key);
    this.drawCard();
  }

  setLink(link) {
    this.state.onlyLink = link;
    byId("links").querySelector("select").value = String(link);
    if (this.pinned instanceof FenceItem && !this.state.isShown(this.pinned.i)) this.pick(null, false);
    this.changed();
  }

  setTheme(isDark) {
    this.isDark = this.state.isDark = isDark;
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    byId("theme").textContent = isDark ? "Light" : "Dark";
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ink", "soft", "grid", "delay", "band", "loss", "shade", "track", "ground"]) this.state.style[name] = style.getPropertyValue(`--${name}`);
    this.state.style.font = style.fontFamily;
    this.state.basemap?.repaint();
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
    const { table, tests } = this.state, sums = table.totals((i) => this.includes(i));
    byId("title").textContent = counted(sums.fences, "fence") + (this.state.selection ? " selected" : "");
    document.title = `Coverage map: ${counted(table.count, "fence")}`;
    const totals = [
      ["distance", kilometres(sums.metres)], ["mean delay", sums.answered ? `${(sums.delay / sums.answered).toFixed(1)} ms` : "–"],
      ["loss", percent(sums.pings - sums.answered, sums.pings)], ["pings", sums.pings.toLocaleString("en")],
      ...(tests.shown.length ? [["speed tests", tests.selected.length.toLocaleString("en")]] : []),
    ];
    byId("totals").replaceChildren(...totals.map(([name, value]) => {
      const part = make("div");
      part.append(make("dt", name), make("dd", value));
      return part;
    }));
  }

  drawLegend() {
    const tests = this.state.tests.selected, { colours } = this.view;
    const ofFences = this.view.isOfTests ? [] : this.countFences(), ofTests = this.countTests(tests);
    const isOfFences = ofFences.some((count) => count > 0), counts = isOfFences ? ofFences : ofTests;
    // Shares are those of what was measured.
    const { open = -1 } = this.view, all = counts.reduce((sum, count, place) => place === open ? sum : sum + count, 0);
    const sign = (place) => isOfFences ? dot(colours[place], place === open ? "open" : "full") : square("completed", colours[place]);
    const share = (place) => place === open ? counted(counts[place], "fence") : percent(counts[place], all);
    const rows = this.view.classes.map((name, place) => [sign(place), name, share(place)])
      .filter((_, place) => counts[place] > 0 || ofTests[place] > 0);
    if (isOfFences && this.hasWifi()) rows.push([dot(unmeasured, "wifi"), this.settings.wifi, ""]);
    if (this.view.isOfTests && this.state.table.count) rows.push([dot(unknown), "fences", ""]);
    for (const [look, name] of Object.entries({ completed: "speed test", failed: "failed", aborted: "aborted", running: "running" })) {
      if (tests.some((test) => test.look === look) && !(look === "completed" && (this.view.isOfTests || !isOfFences && rows.length))) rows.push([square(look, neutral), name, ""]);
    }
    byId("legend").replaceChildren(...rows.map(([sign, name, share]) => {
      const row = make("li");
      row.append(sign, make("span", name), make("b", share));
      return row;
    }));
    // A report divides by time and distance: the shares here must say what they are of.
    if (all > 0) byId("legend").append(make("li", `shares of ${isOfFences ? "measured fences" : "tests"}`, "of"));
    byId("legend").hidden = !rows.length;
  }

  // The fences of each class that are selected.
  countFences() {
    const { table, classes } = this.state, counts = this.view.classes.map(() => 0);
    for (let i = 0; i < table.count; i++) if (this.includes(i)) counts[classes[i]]++;
    return counts;
  }

  // Whether Wi-Fi touched a fence that is counted.
  hasWifi() {
    const { table } = this.state;
    for (let i = 0; i < table.count; i++) if (looks[table.look[i]] === "wifi" && this.includes(i)) return true;
    return false;
  }

  // The tests of each class; in views of fences only those that have its colour.
  countTests(tests) {
    const counts = this.view.classes.map(() => 0);
    for (const test of tests) {
      const place = this.view.isOfTests || test.look === "completed" ? this.state.classOf(test) : -1;
      if (place >= 0) counts[place]++;
    }
    return counts;
  }
}

function counted(number, word) { return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`; }

function byId(id) { return document.getElementById(id); }

const settings = JSON.parse(byId("settings").textContent), embedded = byId("basemap");
settings.ground = embedded ? new EmbeddedTiles(JSON.parse(embedded.textContent)) : settings.basemap ? new ServedTiles(settings.basemap) : null;
embedded?.remove();
const coverageMap = new CoverageMap(settings);
for (const part of document.querySelectorAll("script.track")) {
  coverageMap.state.tracks.add(JSON.parse(part.textContent));
  part.remove();
}
coverageMap.add(...[...document.querySelectorAll("script.fences")].map((part) => JSON.parse(part.textContent)));
for (const part of document.querySelectorAll("script.fences")) part.remove();
const speedTests = byId("speed-tests");
if (speedTests) coverageMap.addTests(JSON.parse(speedTests.textContent));
speedTests?.remove();
coverageMap.fit();
globalThis.coverageMap = coverageMap;
