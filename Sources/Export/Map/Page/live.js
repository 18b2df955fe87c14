// The live page: the service's events on the map, its state in words, and its commands.
class LivePanel {
  constructor(coverageMap) {
    this.map = coverageMap;
    this.seen = new Set();
    this.follows = true;
    this.makePanel();
    this.here = L.DomUtil.create("div", "here", coverageMap.map.getPane("overlayPane"));
    this.here.hidden = true;
    coverageMap.map.on("zoomend viewreset", () => this.drawHere());
    coverageMap.map.on("dragstart", () => this.setFollowing(false));
    this.listen();
  }

  // The browser connects again by itself, with the last event's number; each message shows that the connection lives.
  listen() {
    this.events = new EventSource("events");
    this.events.addEventListener("fences", (event) => this.addFences(JSON.parse(event.data)));
    // A test that is there already takes the place of its earlier state.
    this.events.addEventListener("tests", (event) => this.map.addTests(JSON.parse(event.data)));
    this.events.addEventListener("status", (event) => this.show(JSON.parse(event.data)));
    this.events.addEventListener("reset", () => location.reload());
    this.events.addEventListener("open", () => { this.isLost = false; });
    this.events.addEventListener("error", () => {
      this.lose();
      if (this.events.readyState !== EventSource.CLOSED) return;
      // After an answer that is no stream, such as a refused token, browsers do not try again.
      this.explain();
      setTimeout(() => this.listen(), 5000);
    });
  }

  // Shows why the service refuses this browser, in the service's words.
  async explain() {
    const answer = await fetch("/", { cache: "no-store" }).catch(() => undefined);
    if (answer?.status === 403) this.reason.textContent = (await answer.text()).trim();
  }

  // A fence can come again after a broken connection.
  addFences(chunk) {
    const ids = chunk.columns.id, fresh = ids.map((id, place) => [id, place]).filter(([id]) => !this.seen.has(id));
    for (const id of ids) this.seen.add(id);
    if (!fresh.length) return;
    if (fresh.length < ids.length) chunk = part(chunk, fresh.map(([, place]) => place));
    this.map.add(chunk);
    if (this.follows) this.followPosition();
  }

  // ---- The state

  makePanel() {
    this.panel = make("section");
    this.panel.id = "live";
    this.panel.setAttribute("aria-label", "Service");
    const top = make("div", undefined, "top"), tools = make("div", undefined, "tools");
    this.stateText = make("span", "connecting", "state");
    this.stateText.setAttribute("role", "status");
    this.reason = make("span");
    for (const [name, label] of [["start", "Start"], ["stop", "Stop"], ["pause", "Pause"], ["resume", "Resume"], ["submit", "Submit"]]) {
      const button = make("button", label);
      button.type = "button";
      button.dataset.command = name;
      button.addEventListener("click", () => this.command(name));
      tools.append(button);
    }
    this.following = make("button", "Follow");
    this.following.type = "button";
    this.following.addEventListener("click", () => this.setFollowing(!this.follows));
    tools.append(this.following);
    top.append(make("h2", "Service"), this.stateText, this.reason, tools);
    this.figures = make("dl");
    this.warnings = make("ul", undefined, "warnings");
    this.warnings.setAttribute("role", "alert");
    this.queue = make("ul");
    this.answer = make("p");
    this.answer.setAttribute("role", "status");
    this.panel.append(top, this.warnings, this.figures, this.queue, this.answer);
    document.querySelector("main").prepend(this.panel);
    this.setFollowing(true);
  }

  show(status) {
    this.isLost = false;
    this.setState(status.state);
    this.reason.textContent = status.reason;
    const rows = [], place = status.position, several = status.drives.length > 1;
    if (status.drives[0]) rows.push(["drive", clock(status.drives[0].elapsed_s)]);
    rows.push(["position", place?.latitude === undefined ? "none" : `${place.latitude.toFixed(5)} ${place.longitude.toFixed(5)}`]);
    if (place?.accuracy_m !== undefined) rows.push(["accuracy", `±${place.accuracy_m.toFixed(1)} m, ${Math.round(place.age_s ?? 0)} s old`]);
    if (status.satellites) rows.push(["satellites", `${status.satellites.used} of ${status.satellites.seen} used`]);
    for (const drive of status.drives) {
      const name = (text) => several ? `${text}, ${drive.link ?? "-"}` : text, second = drive.last_second;
      rows.push([name("technology"), drive.technology ?? "unknown"]);
      rows.push([name("last second"), second.pings === 0 ? "no pings" : second.avg_ping_ms === undefined ? "no answer" : `${second.avg_ping_ms.toFixed(1)} ms`]);
      rows.push([name("lost"), percent(second.pings - second.pings_ok, second.pings)]);
      rows.push([name("fences"), String(drive.fences)]);
      const open = drive.open_fence;
      if (open) rows.push([name("this fence"), `${open.pings} pings${open.p50_ping_ms === undefined ? "" : `, ${open.p50_ping_ms.toFixed(1)} ms`}`]);
    }
    this.figures.replaceChildren(...rows.map(([name, value]) => {
      const row = make("div");
      row.append(make("dt", name), make("dd", value));
      return row;
    }));
    const warnings = status.drives.flatMap((drive) => [...drive.warnings, ...(drive.radio_obstacle ? [drive.radio_obstacle] : [])]
      .map((text) => several ? `${drive.link}: ${text}` : text));
    if (status.disk.trouble) warnings.push(`disk: ${status.disk.trouble}`);
    if (!status.clock_set) warnings.push("no trusted clock: fences are stored and not sent");
    // An alert is read aloud each time it changes.
    if (warnings.join("\n") !== this.said) this.warnings.replaceChildren(...warnings.map((text) => make("li", text)));
    this.said = warnings.join("\n");
    this.queue.replaceChildren(...[...(status.loop ? [status.loop.line] : []), ...(status.queue ?? [])].map((text) => make("li", text)));
    this.place = place?.latitude === undefined ? null : L.latLng(place.latitude, place.longitude);
    this.drawHere();
    if (this.follows) this.followPosition();
  }

  setState(state) {
    this.stateText.textContent = state === "lost" ? "connection lost" : state;
    this.stateText.dataset.state = state;
    for (const button of this.panel.querySelectorAll("[data-command]")) button.disabled = state === "lost";
  }

  lose() {
    if (this.isLost) return;
    this.isLost = true;
    this.setState("lost");
    this.reason.textContent = "trying again";
  }

  // ---- The place

  setFollowing(follows) {
    this.follows = follows;
    this.following.setAttribute("aria-pressed", String(follows));
    this.following.textContent = follows ? "Following" : "Follow";
    if (follows) this.followPosition();
  }

  followPosition() {
    if (!this.place || this.map.playing) return;
    const { map } = this.map;
    if (!this.hasBeenThere) {
      this.hasBeenThere = true;
      if (this.map.state.table.count === 0) map.setView(this.place, 16, { animate: false });
    }
    if (!map.getBounds().pad(-0.15).contains(this.place)) map.panTo(this.place, { animate: false });
  }

  drawHere() {
    this.here.hidden = !this.place;
    if (!this.place) return;
    const point = this.map.map.latLngToLayerPoint(this.place);
    L.DomUtil.setPosition(this.here, L.point(point.x - 9, point.y - 9));
  }

  // ---- Commands

  async command(name) {
    this.answer.textContent = `${name} …`;
    try {
      const answer = await fetch(name, { method: "POST", headers: { "X-Coverage-Probe": "1" } });
      this.answer.textContent = (await answer.text()).trim();
    } catch {
      this.answer.textContent = `${name}: no answer from the service`;
    }
  }
}

// The fences at these places of a chunk.
function part(chunk, places) {
  const columns = {};
  for (const [name, column] of Object.entries(chunk.columns)) {
    columns[name] = column.places ? { texts: column.texts, places: places.map((place) => column.places[place]) } : places.map((place) => column[place]);
  }
  return { fences: places.length, columns };
}

function clock(seconds) {
  return [seconds / 3600, seconds / 60 % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}

globalThis.livePanel = new LivePanel(coverageMap);
