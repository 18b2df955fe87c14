// The fences of the page, a column an array. Numbers that are drawn are in typed arrays; all others stay as they came.
const numeric = {
  latitude: "latitude", longitude: "longitude", radius: "radius_m", pings: "pings", answered: "pings_ok", lost: "pings_lost",
  mean: "avg_ping_ms", median: "p50_ping_ms", p95: "p95_ping_ms", minimum: "min_ping_ms", maximum: "max_ping_ms", variation: "ipdv_ms",
  signal: "signal_dbm", technologyClass: "technology_class", duration: "duration_ms",
  distance: "distance_m",
};
const computed = ["x", "y", "reach", "entered", "session", "link", "drive", "before", "joined", "look", "headX", "headY", "cell"];
// How a fence is drawn: full; a dashed ring that Wi-Fi touched; or an open ring, where nothing was measured.
const looks = ["full", "wifi", "open"];

// Parts of the map in a row: about 50 m at 48 degrees.
const cellsAcross = 2 ** 19;

class FenceTable {
  constructor(state) {
    this.state = state;
    this.count = 0;
    this.capacity = 0;
    this.raw = {};
    this.sessions = [];
    this.links = [];
    this.drives = [];
    // The last fence of each link of each drive.
    this.lastOf = new Map();
    // The links in each part of the map, a bit a link, and the number of a part by its place.
    [this.linksOfCell, this.cells] = [[], new Map()];
    this.hasWallTime = false;
    this.order = [];
    for (const name of [...Object.keys(numeric), ...computed]) this[name] = new Float64Array(0);
  }

  // Adds the fences of a chunk; returns the number of the first one.
  add(chunk) {
    const first = this.count;
    this.reserve(first + chunk.fences);
    for (const [name, source] of Object.entries(numeric)) {
      const values = chunk.columns[source];
      for (let i = 0; i < chunk.fences; i++) this[name][first + i] = values?.[i] ?? NaN;
    }
    this.addRaw(chunk, first);
    this.count = first + chunk.fences;
    for (let i = first; i < this.count; i++) {
      this.place(i);
      this.meet(i);
      this.join(i);
      this.head(i);
      this.look[i] = !this.isSubmittable(i) ? 1 : this.isMeasured(i) ? 0 : 2;
    }
    this.sort(first);
    return first;
  }

  // A value as the exports have it; undefined when it is unknown.
  value(name, i) {
    for (const part of this.raw[name] ?? []) {
      if (i < part.first || i >= part.end) continue;
      const value = part.values[i - part.first];
      return value === null || value === undefined ? undefined : part.texts ? part.texts[value] : value;
    }
    return undefined;
  }

  isSubmittable(i) { return this.value("submittable", i) !== 0; }

  // Whether its pings tell that there is coverage or none: the last class is that of fences without.
  isMeasured(i) { return this.technologyClass[i] !== this.state.notMeasured; }

  // The milliseconds of a fence in which its pings were sent: in a tunnel it goes on, and has none from the loss of the position on.
  measuredTime(i) {
    if (this.timedFences !== this.count) {
      const all = Float64Array.from({ length: this.count }, (_, n) => this.duration[n] / this.pings[n]).filter(Number.isFinite).sort();
      [this.interval, this.timedFences] = [all[all.length >> 1] ?? 0, this.count];
    }
    const duration = this.duration[i] || 0, measured = this.pings[i] * this.interval;
    return this.isMeasured(i) && duration - measured > Math.max(2000, 3 * this.interval) ? measured : duration;
  }

  reserve(count) {
    if (count <= this.capacity) return;
    this.capacity = Math.max(count, this.capacity * 2, 4096);
    for (const name of [...Object.keys(numeric), ...computed]) {
      const old = this[name];
      this[name] = new Float64Array(this.capacity);
      this[name].set(old.subarray(0, this.count));
    }
  }

  addRaw(chunk, first) {
    for (const [name, column] of Object.entries(chunk.columns)) {
      const part = { first, end: first + chunk.fences, values: column.places ?? column, texts: column.texts };
      (this.raw[name] ??= []).push(part);
    }
    const at = (name, i) => {
      const column = chunk.columns[name];
      if (!column) return undefined;
      const value = (column.places ?? column)[i];
      return value === null ? undefined : column.texts ? column.texts[value] : value;
    };
    this.hasWallTime = this.hasWallTime || "entered_at" in chunk.columns;
    for (let i = 0; i < chunk.fences; i++) {
      const link = this.number(this.links, at("link", i) ?? "", (name) => name, (name) => name);
      const id = at("session", i) ?? `#${at("drive_session", i) ?? 0}`;
      const key = `${id} ${link}`;
      this.link[first + i] = link;
      this.drive[first + i] = this.number(this.drives, at("drive_started_at", i) ?? 0, (started) => started, () => at("drive_started_at", i) ?? 0);
      this.session[first + i] = this.number(this.sessions, key, (session) => session.key, () => ({ key, id, link, test: at("test_uuid", i) }));
      this.entered[first + i] = at("entered_at", i) ?? (at("entered", i) ?? 0) * 1000;
    }
  }

  // The place of `key` in a list, which it joins. The last ones are the likely ones.
  number(list, key, keyOf, make) {
    const known = (list.places ??= new Map());
    if (!known.has(key)) known.set(key, list.push(make(key)) - 1);
    return known.get(key);
  }

  // The place on the map.
  place(i) {
    const { projection } = this.state;
    [this.x[i], this.y[i]] = projection.project(this.latitude[i], this.longitude[i]);
    this.reach[i] = this.radius[i] * projection.metre(this.latitude[i]);
  }

  // The fence before on the same link, and whether the line from there goes on: where the exports have a distance.
  join(i) {
    const key = this.drive[i] * 65536 + this.link[i];
    this.before[i] = Number.isNaN(this.distance[i]) ? -1 : this.lastOf.get(key) ?? -1;
    this.joined[i] = this.before[i] >= 0 && this.before[i] === i - 1 ? 1 : 0;
    this.lastOf.set(key, i);
  }

  // Notes its link in its part of the map.
  meet(i) {
    const key = Math.floor(this.x[i] * cellsAcross) * cellsAcross * 4 + Math.floor(this.y[i] * cellsAcross);
    if (!this.cells.has(key)) this.cells.set(key, this.linksOfCell.push(0) - 1);
    this.cell[i] = this.cells.get(key);
    this.linksOfCell[this.cell[i]] |= 1 << Math.min(this.link[i], 30);
  }

  // Whether another link has fences around a fence.
  hasOthers(i) {
    const links = this.linksOfCell[this.cell[i]];
    return (links & (links - 1)) !== 0;
  }

  // How many links have fences around a fence, and which one of them its own is, from 0.
  lanes(i) {
    const links = this.linksOfCell[this.cell[i]], own = 1 << Math.min(this.link[i], 30);
    return { count: bits(links), place: bits(links & (own - 1)) };
  }

  // The direction of the way at a fence, of length 1 on the map: from the fence before; there, the mean of this one and its own.
  head(i) {
    const before = this.before[i];
    [this.headX[i], this.headY[i]] = [0, 0];
    if (before < 0) return;
    const across = this.x[i] - this.x[before], x = this.state.projection.wraps ? across - Math.round(across) : across, y = this.y[i] - this.y[before];
    const length = Math.hypot(x, y), [oldX, oldY] = [this.headX[before], this.headY[before]];
    [this.headX[i], this.headY[i]] = length > 0 ? [x / length, y / length] : [oldX, oldY];
    const [sumX, sumY] = [this.headX[i] + oldX, this.headY[i] + oldY], sum = Math.hypot(sumX, sumY);
    // Nearly 0 where the way turns round.
    if (sum > 0.2) [this.headX[before], this.headY[before]] = [sumX / sum, sumY / sum];
  }

  // Places all fences on another map.
  placeAll() {
    [this.linksOfCell, this.cells] = [[], new Map()];
    for (let i = 0; i < this.count; i++) {
      this.place(i);
      this.meet(i);
    }
    for (let i = 0; i < this.count; i++) this.head(i);
  }

  // The fences in order of time.
  sort(first) {
    const order = this.order;
    let isSorted = true;
    for (let i = first; i < this.count; i++) {
      if (order.length && this.entered[order[order.length - 1]] > this.entered[i]) isSorted = false;
      order.push(i);
    }
    if (!isSorted) order.sort((a, b) => this.entered[a] - this.entered[b]);
    this.rank = new Uint32Array(order.length);
    order.forEach((i, place) => { this.rank[i] = place; });
  }

  time(i) { return this.timeText(this.entered[i]); }

  day(i) { return this.dayText(this.entered[i]); }

  // When something was, for people.
  moment(at) { return [this.dayText(at), this.timeText(at), this.zone].filter(Boolean).join(" "); }

  get zone() { return this.count && !this.hasWallTime ? "" : "UTC"; }

  // Replayed fences have only times since their drives began.
  timeText(time) {
    if (this.count && !this.hasWallTime) {
      const seconds = Math.round(time / 1000);
      return [seconds / 3600, seconds / 60 % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
    }
    return new Date(time).toISOString().slice(11, 19);
  }

  dayText(time) { return this.count && !this.hasWallTime ? "" : new Date(time).toISOString().slice(0, 10); }

  // The totals of the fences that `includes` selects.
  totals(includes) {
    const sums = { fences: 0, pings: 0, answered: 0, delay: 0, metres: 0, time: 0, from: Infinity, to: -Infinity };
    // Two links of one drive have one distance: the longer one.
    const metres = this.drives.map(() => new Map());
    for (let i = 0; i < this.count; i++) {
      if (!includes(i)) continue;
      const before = sums.metres, ofLinks = metres[this.drive[i]];
      this.addTo(sums, i, includes);
      ofLinks.set(this.link[i], (ofLinks.get(this.link[i]) ?? 0) + sums.metres - before);
    }
    sums.metres = this.sameDrives().reduce((sum, drives) => {
      const ofLinks = new Map();
      for (const drive of drives) for (const [link, way] of metres[drive]) ofLinks.set(link, (ofLinks.get(link) ?? 0) + way);
      return sum + Math.max(0, ...ofLinks.values());
    }, 0);
    return sums;
  }

  // The numbers of the drives that are one with several links: they began at the same time, within a second, as the clock of each link is
  // set on its own.
  sameDrives() {
    if (this.grouped?.count === this.drives.length) return this.grouped.drives;
    const order = this.drives.map((_, drive) => drive).sort((a, b) => this.drives[a] - this.drives[b]), drives = [];
    for (const drive of order) {
      const last = drives[drives.length - 1];
      if (last && this.drives[drive] - this.drives[last[0]] <= 1000) last.push(drive); else drives.push([drive]);
    }
    this.grouped = { count: this.drives.length, drives };
    return drives;
  }

  addTo(sums, i, includes = () => true) {
    sums.fences++;
    sums.pings += this.pings[i] || 0;
    sums.answered += this.answered[i] || 0;
    if (this.answered[i] > 0) sums.delay += this.mean[i] * this.answered[i];
    sums.time += this.duration[i] || 0;
    sums.from = Math.min(sums.from, this.entered[i]);
    sums.to = Math.max(sums.to, this.entered[i] + (this.duration[i] || 0));
    if (this.before[i] >= 0 && includes(this.before[i])) sums.metres += this.distance[i];
  }
}

function bits(number) {
  let count = 0;
  for (let rest = number; rest; rest &= rest - 1) count++;
  return count;
}
