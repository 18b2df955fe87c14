// The live page: the service's events on the map, its state in words, and its commands.

// The state comes each second. After so many seconds without it, the page no longer says that the service works; after so many more, it
// connects again, because a browser does not notice that the other end of a connection is gone.
const quietLimit = 3, deadLimit = 15;

class LivePanel {
  constructor(coverageMap) {
    this.map = coverageMap;
    this.seen = new Set();
    this.follows = true;
    [this.heard, this.tried, this.lastEvent] = [Date.now(), Date.now(), ""];
    this.makePanel();
    this.here = L.DomUtil.create("div", "here", coverageMap.map.getPane("overlayPane"));
    this.here.hidden = true;
    coverageMap.map.on("zoomend viewreset", () => this.drawHere());
    coverageMap.map.on("dragstart", () => this.setFollowing(false));
    this.listen();
    setInterval(() => this.watch(), 500);
  }

  // The browser connects again by itself, with the last event's number; each message shows that the connection lives.
  listen() {
    this.tried = Date.now();
    this.events?.close();
    this.events = new EventSource(this.lastEvent ? `events?after=${this.lastEvent}` : "events");
    this.events.addEventListener("fences", (event) => {
      this.lastEvent = event.lastEventId;
      this.addFences(JSON.parse(event.data));
    });
    // A test that is there already takes the place of its earlier state.
    this.events.addEventListener("tests", (event) => this.map.addTests(JSON.parse(event.data)));
    this.events.addEventListener("status", (event) => this.show(JSON.parse(event.data)));
    this.events.addEventListener("reset", () => location.reload());
    this.events.addEventListener("error", () => {
      this.lose();
      if (this.events.readyState !== EventSource.CLOSED) return;
      // After an answer that is no stream, such as a refused token, browsers do not try again.
      this.explain();
      setTimeout(() => this.listen(), 5000);
    });
  }

  // A service that is frozen, and a device that is out of reach, close no connection.
  watch() {
    const seconds = Math.floor((Date.now() - this.heard) / 1000);
    if (seconds >= deadLimit && Date.now() - this.tried >= deadLimit * 1000 && this.events.readyState !== EventSource.CLOSED) this.listen();
    this.setOld(this.isLost || seconds >= quietLimit);
    if (seconds < quietLimit || this.isLost) return;
    this.setState("silent", `nothing for ${seconds} s`);
    this.reason.textContent = "the service is silent; the figures are old";
  }

  setOld(isOld) {
    for (const element of [this.now, this.figures, this.queue, this.here]) element.classList.toggle("old", isOld);
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
    const section = (id, name) => {
      const section = make("section");
      section.id = id;
      section.setAttribute("aria-label", name);
      return section;
    };
    [this.panel, this.commands] = [section("live", "State"), section("commands", "Service")];
    const top = make("div", undefined, "top"), tools = make("div", undefined, "tools");
    // What is read aloud: the state, without the seconds.
    this.spoken = make("span", "", "hidden-text");
    this.spoken.setAttribute("role", "status");
    [this.stateText, this.reason, this.now] = [make("span", "connecting", "state"), make("span"), make("div", undefined, "now")];
    this.stateText.setAttribute("aria-hidden", "true");
    for (const [name, label] of [["start", "Start"], ["stop", "Stop"], ["pause", "Pause"], ["resume", "Resume"], ["submit", "Submit"]]) {
      const button = this.button(label, () => name === "stop" ? this.question.showModal() : this.command(name));
      button.dataset.command = name;
      tools.append(button);
    }
    this.following = this.button("Follow", () => this.setFollowing(!this.follows));
    tools.append(this.following);
    this.makeQuestion();
    this.warnings = make("ul", undefined, "warnings");
    this.warnings.setAttribute("role", "alert");
    [this.figures, this.queue, this.answer] = [make("dl"), make("ul"), make("p")];
    this.answer.setAttribute("role", "status");
    top.append(this.stateText, this.spoken, this.reason);
    this.panel.append(top, this.warnings, this.now);
    this.commands.append(tools, this.answer, this.figures, this.queue, this.question);
    const narrow = matchMedia("(max-width: 700px)");
    narrow.addEventListener("change", () => this.arrange(narrow.matches));
    this.arrange(narrow.matches);
    this.setFollowing(true);
  }

  // On a narrow page the figures come first, then the map, then all else. The order of the elements is that of the keys.
  arrange(isNarrow) {
    const main = document.querySelector("main"), map = main.querySelector(".map"), header = document.querySelector("header");
    main.prepend(this.panel);
    (isNarrow ? map : this.panel).after(this.commands);
    if (isNarrow) this.commands.after(header); else main.before(header);
    this.map.map.invalidateSize({ animate: false });
  }

  button(label, press) {
    const button = make("button", label);
    button.type = "button";
    button.addEventListener("click", press);
    return button;
  }

  // A drive that is stopped by mistake does not go on.
  makeQuestion() {
    this.question = make("dialog");
    const [text, tools] = [make("p", "Stop recording? The drive ends here."), make("div", undefined, "tools")];
    text.id = "question";
    this.question.setAttribute("aria-labelledby", "question");
    const stop = this.button("Stop the drive", () => {
      this.question.close();
      this.command("stop");
    });
    tools.append(this.button("Go on recording", () => this.question.close()), stop);
    this.question.append(text, tools);
  }

  show(status) {
    [this.isLost, this.heard] = [false, Date.now()];
    this.setOld(false);
    this.setState(status.state, status.state);
    this.reason.textContent = inUTC(status.reason);
    const several = status.drives.length > 1;
    this.now.replaceChildren(...status.drives.map((drive) => this.nowOf(drive, several)));
    const terms = (rows) => rows.map(([name, value]) => {
      const row = make("div");
      row.append(make("dt", name), make("dd", value));
      return row;
    });
    this.figures.replaceChildren(...terms(this.rows(status, several)));
    this.showWarnings(status, several);
    this.queue.replaceChildren(...[...(status.loop ? [status.loop.line] : []), ...(status.queue ?? [])].map((text) => make("li", inUTC(text))));
    const place = status.position;
    this.place = place?.latitude === undefined ? null : L.latLng(place.latitude, place.longitude);
    if (this.place) this.map.chooseProjection([this.place.lat]);
    this.drawHere();
    if (this.follows) this.followPosition();
  }

  // The large figures of a link: its last second, and its technology.
  nowOf(drive, several) {
    const list = make("dl"), second = drive.last_second;
    const delay = second.pings === 0 ? "no pings" : second.avg_ping_ms === undefined ? "no answer" : `${second.avg_ping_ms.toFixed(1)} ms`;
    const lost = second.pings > second.pings_ok ? "some" : "none";
    for (const [name, value, mark] of [
      ["delay", delay], ["lost", percent(second.pings - second.pings_ok, second.pings), lost], ["technology", drive.technology ?? "unknown"],
      ["fences", drive.fences.toLocaleString("en")],
    ]) {
      const figure = make("div");
      figure.append(make("dt", several && name === "delay" ? `${drive.link ?? "-"}: delay` : name), make("dd", value));
      if (mark) figure.dataset.lost = mark;
      list.append(figure);
    }
    return list;
  }

  rows(status, several) {
    const rows = [], place = status.position;
    if (status.drives[0]) rows.push(["drive", clock(status.drives[0].elapsed_s)]);
    rows.push(["position", place?.latitude === undefined ? "none" : `${place.latitude.toFixed(5)} ${place.longitude.toFixed(5)}`]);
    if (place?.accuracy_m !== undefined) rows.push(["accuracy", `±${place.accuracy_m.toFixed(1)} m, ${Math.round(place.age_s ?? 0)} s old`]);
    if (status.satellites) rows.push(["satellites", `${status.satellites.used} of ${status.satellites.seen} used`]);
    for (const { link, open_fence: open } of status.drives) {
      const median = open?.p50_ping_ms === undefined ? "" : `, ${open.p50_ping_ms.toFixed(1)} ms`;
      if (open) rows.push([several ? `this fence, ${link ?? "-"}` : "this fence", `${open.pings} pings${median}`]);
    }
    return rows;
  }

  showWarnings(status, several) {
    const warnings = status.drives.flatMap((drive) => drive.warnings.map((text) => several ? `${drive.link}: ${text}` : text));
    if (status.disk.trouble) warnings.push(`disk: ${status.disk.trouble}`);
    else if (status.disk.full) warnings.push("disk: the disk of the state directory is full: delete other files until 1 MiB is free");
    if (!status.clock_set) warnings.push("the clock is not set: nothing is sent");
    // An alert is read aloud each time it changes.
    if (warnings.join("\n") !== this.said) this.warnings.replaceChildren(...warnings.map((text) => make("li", inUTC(text))));
    this.said = warnings.join("\n");
  }

  setState(state, text) {
    this.stateText.textContent = text;
    this.stateText.dataset.state = state;
    const spoken = state === text ? text : state === "lost" ? "connection lost" : "no news from the service";
    if (this.spoken.textContent !== spoken) this.spoken.textContent = spoken;
    const isMute = state === "lost" || state === "silent";
    for (const button of this.commands.querySelectorAll("[data-command]")) button.disabled = isMute;
  }

  lose() {
    if (this.isLost) return;
    this.isLost = true;
    this.setState("lost", "connection lost");
    this.reason.textContent = "trying again";
    this.setOld(true);
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
    this.map.keepInView(this.place, 0.15);
  }

  drawHere() {
    this.here.hidden = !this.place;
    if (!this.place) return;
    const point = this.map.map.latLngToLayerPoint(this.map.nearest(this.place));
    L.DomUtil.setPosition(this.here, L.point(point.x - 9, point.y - 9));
  }

  // ---- Commands

  async command(name) {
    this.answer.textContent = `${name} …`;
    try {
      // A pass can take long; all else is quick.
      const signal = name === "submit" ? undefined : AbortSignal.timeout(10000);
      const answer = await fetch(name, { method: "POST", headers: { "X-Coverage-Probe": "1" }, signal });
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

// ISO 8601 in a text of the service, as people read it.
function inUTC(text) { return text.replace(/(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z/g, "$1 $2 UTC"); }

function clock(seconds) {
  return [seconds / 3600, seconds / 60 % 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}

globalThis.livePanel = new LivePanel(coverageMap);
