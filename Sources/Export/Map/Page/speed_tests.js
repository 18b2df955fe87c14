// A speed test; its values have the names of the exports.
class SpeedTest {
  constructor(values, state) {
    [this.values, this.state, this.id] = [values, state, values.id];
    this.time = Date.parse(values.started_at);
    this.end = Math.max(this.time, Date.parse(values.ended_at ?? values.started_at) || 0);
    this.hasPlace = Number.isFinite(values.latitude) && Number.isFinite(values.longitude);
    this.locate();
  }

  // The place on the map.
  locate() {
    if (this.hasPlace) [this.x, this.y] = this.state.projection.project(this.values.latitude, this.values.longitude);
  }

  get key() { return `test ${this.id}`; }
  get place() { return this.hasPlace ? L.latLng(this.values.latitude, this.values.longitude) : null; }
  get look() { return this.values.outcome in squareMarks ? this.values.outcome : "running"; }
  get colour() { return this.state.colourOf(this); }

  ringRadius() { return SpeedTest.half + 11; }

  // ---- In words

  get number() { return this.values.test_counter ?? null; }
  get technology() { return otherLinks[this.values.link] ?? this.values.technology ?? "No technology"; }
  get outcome() { return this.values.interrupted ? `${this.values.outcome}, interrupted` : this.values.outcome ?? "running"; }
  get down() { return megabits(this.values.download_kbps); }
  get up() { return megabits(this.values.upload_kbps); }
  get ping() { return milliseconds(this.values.ping_median_ms, this.values.ping_median_ms < 1 ? 2 : 1); }

  sentence() {
    const name = this.number === null ? "speed test" : `speed test ${this.number}`;
    return [
      `${this.state.table.timeText(this.time)} UTC`, name, this.technology, this.outcome,
      ...(this.values.outcome === "completed" ? [`download ${this.down}`, `upload ${this.up}`, `ping ${this.ping}`] : []),
    ].join(", ");
  }

  card() {
    const { values } = this, { table } = this.state;
    const delay = (part, name) => [milliseconds(values[`${part}_delay_median_ms`]), name];
    const delays = [delay("idle", "delay, idle"), delay("download", "delay, down"), delay("upload", "delay, up")].filter(([value]) => value !== "–");
    return {
      name: "Speed test", icon: square(this.look, this.colour), title: this.technology,
      where: [
        table.moment(this.time), `speed test${this.number === null ? "" : ` ${this.number} of its loop`}`,
        values.operator_name ?? values.operator ?? "", this.hasPlace ? "" : "without a place",
      ],
      figures: [["down", this.down], ["up", this.up], ["ping", this.ping]],
      rows: [
        ["outcome", this.outcome], ...(values.error === undefined ? [] : [["error", values.error, "", "wide"]]), ["state", values.state],
        ...["download", "upload"].filter((phase) => values.interrupted && values[`${phase}_silence_ms`] !== undefined).map((phase) =>
          [phase, `${values[`${phase}_measured_percent`]} % measured, ${(values[`${phase}_silence_ms`] / 1000).toFixed(1)} s silent`, "", "wide"]),
        ...delays.map(([value, name]) => [name, value]),
        ...(this.end > this.time ? [["duration", `${((this.end - this.time) / 1000).toFixed(1)} s`]] : []),
        ...(values.link === undefined ? [] : [["link", [values.link_interface, values.link_changed ? "changed" : ""].filter(Boolean).join(", ") || values.link]]),
        ...(values.server_name ?? values.server ? [["server", values.server_name ?? values.server, "", "wide"]] : []),
      ],
      all: this.state.testColumns.filter(([name]) => values[name] !== undefined).map(([name, , meaning]) => [name, String(values[name]), meaning]),
    };
  }
}
// Half the side of its square in pixels.
SpeedTest.half = 7;

// Links that are no mobile network, in the words of the reports.
const otherLinks = { wifi: "Wi-Fi", ethernet: "Ethernet", vpn: "VPN", other: "Other link", mixed: "Changed link" };

// The speed tests of the page, oldest first.
class SpeedTestList {
  constructor(state) {
    [this.state, this.byId, this.all, this.isShown] = [state, new Map(), [], true];
  }

  // Adds tests; one with a known number replaces that.
  add(list) {
    for (const values of list) {
      const test = new SpeedTest(values, this.state);
      if (Number.isFinite(test.time)) this.byId.set(test.id, test);
    }
    this.all = [...this.byId.values()].sort((a, b) => a.time - b.time || a.id - b.id);
  }

  get shown() { return this.isShown ? this.all : []; }
  get selected() { return this.shown.filter((test) => this.state.isTestSelected(test)); }

  // The last one that runs at this time.
  at(time) { return this.shown.findLast((test) => test.time <= time && time <= test.end) ?? null; }

  draw(context, frame, size) {
    const { half } = SpeedTest;
    for (const test of this.shown) {
      if (!test.hasPlace) continue;
      const [x, y] = frame.at(test.x, test.y);
      if (x < -20 || y < -20 || x > size.x + 20 || y > size.y + 20) continue;
      context.globalAlpha = this.state.isTestSelected(test) ? 1 : 0.25;
      drawSquare(context, x, y, half, test.look, test.colour);
    }
    context.globalAlpha = 1;
  }

  // The one whose square is at a point of the map's container; the nearest of several, the upper one of two at the same place.
  near(point, reach, frame) {
    let best = null, nearest = Math.max(SpeedTest.half + 3, reach);
    for (const test of this.shown) {
      const [x, y] = frame.at(test.x, test.y), distance = Math.max(Math.abs(x - point.x), Math.abs(y - point.y));
      if (distance <= nearest) [best, nearest] = [test, distance];
    }
    return best;
  }
}

function megabits(kilobits) {
  if (!Number.isFinite(kilobits)) return "–";
  const megabits = kilobits / 1000;
  return `${megabits >= 1000 ? Math.round(megabits).toLocaleString("en") : megabits.toFixed(megabits < 1 ? 2 : 1)} Mbit/s`;
}

function milliseconds(value, digits = 1) { return Number.isFinite(value) ? `${value.toFixed(digits)} ms` : "–"; }
