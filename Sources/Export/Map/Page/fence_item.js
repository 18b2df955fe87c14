// A fence as the page shows it.
class FenceItem {
  constructor(state, i) { [this.state, this.i] = [state, i]; }

  get key() { return `fence ${this.i}`; }
  get time() { return this.state.table.entered[this.i]; }
  get place() { return L.latLng(this.state.table.latitude[this.i], this.state.table.longitude[this.i]); }

  // In pixels, from the place to the middle of what is drawn: a circle, not a sector of one.
  shift(zoom) {
    const { layer, table } = this.state;
    return layer.hasSector(this.i, table.reach[this.i] * 256 * 2 ** zoom) ? [0, 0] : layer.shiftOf(this.i);
  }

  ringRadius(zoom) { return Math.max(8, this.state.table.reach[this.i] * 256 * 2 ** zoom + 2); }

  // ---- In words

  value(name) { return this.state.table.value(name, this.i); }

  sentence() {
    const { table } = this.state, { i } = this;
    const delay = Number.isNaN(table.mean[i]) ? "no answer" : milliseconds(table.mean[i]);
    return `${[table.time(i), table.zone].join(" ").trim()}, ${this.value("technology") ?? "technology unknown"}, ${delay}, ${percent(table.lost[i], table.pings[i])} lost`;
  }

  card() {
    const { table, colours, classes } = this.state, { i } = this, delay = (name) => milliseconds(table[name][i]);
    return {
      name: "Fence", icon: dot(colours[classes[i]], this.state.lookOf(i)), title: this.value("technology") ?? "No technology",
      where: [
        table.moment(table.entered[i]), table.links.length > 1 ? `link ${table.links[table.link[i]] || "without name"}` : "",
        this.value("operator_name") ?? this.value("operator") ?? "",
      ],
      figures: [["median", delay("median")], ["95 %", delay("p95")], ["lost", percent(table.lost[i], table.pings[i])]],
      rows: [
        ["mean", delay("mean")], ["shortest", delay("minimum")], ["longest", delay("maximum")], ["variation", delay("variation")],
        ["pings", `${table.pings[i]}, ${table.lost[i]} lost`], ["radius", `${table.radius[i].toFixed(1)} m`],
        ["time in it", Number.isNaN(table.duration[i]) ? "–" : `${(table.duration[i] / 1000).toFixed(1)} s`],
        ...(Number.isNaN(table.signal[i]) ? [] : [["min signal", `${table.signal[i].toFixed(1)} dBm`]]),
        ...(table.isMeasured(i) ? [] : [["coverage", "not measured"]]), ...this.exclusion(),
      ],
      all: this.allFigures(),
    };
  }

  // Why the fence is never submitted (docs/algorithm.md, 4.1 and 5).
  exclusion() {
    const { table } = this.state, { i } = this, unsent = this.value("pings_unsent") ?? 0;
    if (table.isSubmittable(i)) return unsent > 0 ? [["not sent", `${unsent} pings`]] : [];
    if (unsent > table.lost[i] && !(table.answered[i] > 0)) return [["not measured", `${unsent} pings could not be sent`]];
    return [["not submitted", table.pings[i] > 0 ? "touched by Wi-Fi" : "touched by Wi-Fi, or the probe sent no pings"]];
  }

  // Under the names of the exports.
  allFigures() {
    const rows = [];
    for (const [name, kind, meaning] of this.state.columns) {
      if (["technology_class", "signal_dbm", "drive_session", "drive_started_at"].includes(name)) continue;
      let value = this.value(name);
      if (value === undefined) continue;
      if (kind === "time") value = new Date(value).toISOString();
      if (kind === "boolean") value = value ? "true" : "false";
      if (kind === "object") value = JSON.stringify(value);
      rows.push([name, String(value), meaning]);
    }
    return rows;
  }
}
