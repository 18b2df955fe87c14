// The table of sessions; a button a row shows the session on the map.
class SessionsTable {
  constructor(element, state, onShow) {
    [this.element, this.state, this.onShow] = [element, state, onShow];
  }

  draw() {
    const { table } = this.state, hasLinks = table.links.length > 1;
    const heads = ["Session", ...(hasLinks ? ["Link"] : []), table.zone ? "Start, UTC" : "Start", "Duration", "Distance", "Fences", "Pings", "Loss", "Mean delay", ""];
    this.element.querySelector("thead tr").replaceChildren(...heads.map((head) => {
      const cell = make("th", head || undefined);
      cell.scope = "col";
      if (!head) cell.append(make("span", "", "hidden"));
      if (!head) cell.setAttribute("aria-label", "Actions");
      return cell;
    }));
    const sums = table.sessions.map(() => ({ fences: 0, pings: 0, answered: 0, delay: 0, metres: 0, time: 0, from: Infinity, to: -Infinity, first: -1 }));
    for (let i = 0; i < table.count; i++) {
      const sum = sums[table.session[i]];
      if (sum.first < 0) sum.first = i;
      table.addTo(sum, i);
    }
    this.rows = table.sessions.map((session, number) => this.row(session, sums[number], number, hasLinks));
    this.element.querySelector("tbody").replaceChildren(...this.rows);
  }

  row(session, sum, number, hasLinks) {
    const { table } = this.state, row = make("tr");
    const name = make("th", String(session.id));
    name.scope = "row";
    if (session.test) name.title = `test ${session.test}`;
    const values = [
      ...(hasLinks ? [table.links[session.link] || "–"] : []), `${table.day(sum.first)} ${table.time(sum.first)}`.trim(),
      spoken(sum.to - sum.from), kilometres(sum.metres), sum.fences.toLocaleString("en"), sum.pings.toLocaleString("en"),
      percent(sum.pings - sum.answered, sum.pings), sum.answered ? `${(sum.delay / sum.answered).toFixed(1)} ms` : "–",
    ];
    const show = make("button", "Show");
    show.type = "button";
    show.setAttribute("aria-label", `Show session ${session.id}${hasLinks ? ` of link ${table.links[session.link] || "without name"}` : ""}`);
    show.addEventListener("click", () => this.onShow(number));
    const cell = make("td");
    cell.append(show);
    row.append(name, ...values.map((value) => make("td", value)), cell);
    return row;
  }

  mark(number) { this.rows.forEach((row, place) => { row.setAttribute("aria-selected", String(place === number)); }); }
}

function make(kind, text, className) {
  const element = document.createElement(kind);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function percent(part, whole) { return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–"; }

function kilometres(metres) { return metres < 1000 ? `${Math.round(metres)} m` : `${(metres / 1000).toFixed(metres < 10000 ? 2 : 1)} km`; }

function spoken(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000)), [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
