// The table of speed tests; a button a row shows the test on the map.
class SpeedTestTable {
  constructor(element, state, onShow) {
    [this.element, this.state, this.onShow, this.rows] = [element, state, onShow, new Map()];
    const heads = ["Start, UTC", "Number", "Technology", "Download", "Upload", "Ping", "Outcome"].map((head) => make("th", head));
    const actions = make("th");
    actions.setAttribute("aria-label", "Actions");
    for (const head of [...heads, actions]) head.scope = "col";
    element.querySelector("thead tr").replaceChildren(...heads, actions);
  }

  draw() {
    const tests = this.state.tests.shown, hadFocus = this.element.contains(document.activeElement) ? document.activeElement.dataset.test : undefined;
    this.element.hidden = !tests.length;
    this.rows = new Map(tests.map((test) => [test.key, this.row(test)]));
    this.element.querySelector("tbody").replaceChildren(...this.rows.values());
    if (hadFocus !== undefined) this.rows.get(hadFocus)?.querySelector("button").focus();
  }

  row(test) {
    const { table } = this.state, row = make("tr"), start = [table.dayText(test.time), table.timeText(test.time)].filter(Boolean).join(" ");
    const head = make("th", start), outcome = make("td"), show = make("button", "Show"), cell = make("td");
    head.scope = "row";
    outcome.append(square(test.look, test.colour), make("span", test.outcome));
    if (test.values.error !== undefined) outcome.title = test.values.error;
    show.type = "button";
    show.dataset.test = test.key;
    show.setAttribute("aria-label", `Show the speed test of ${start}`);
    show.addEventListener("click", () => this.onShow(test));
    cell.append(show);
    row.append(head, ...[test.number ?? "–", test.technology, test.down, test.up, test.ping].map((value) => make("td", String(value))), outcome, cell);
    return row;
  }

  mark(key) { for (const [of, row] of this.rows) row.setAttribute("aria-selected", String(of === key)); }
}
