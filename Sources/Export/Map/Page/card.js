// The card with the figures of a fence or a speed test.
class Card {
  constructor(element, onClose) {
    [this.element, this.onClose] = [element, onClose];
  }

  hide() { this.element.hidden = true; }

  show(item, isPinned) {
    const card = item.card(), { element } = this;
    const wasOpen = element.querySelector("details")?.open ?? false;
    element.hidden = false;
    element.setAttribute("aria-live", isPinned ? "polite" : "off");
    element.setAttribute("aria-label", card.name);
    const head = make("h2"), all = make("details");
    head.append(card.icon, make("span", card.title));
    all.open = wasOpen;
    all.append(make("summary", "All figures"), list(card.all));
    element.replaceChildren(
      head, make("p", card.where.filter(Boolean).join(" · ")), this.figures(card.figures), list(card.rows), all, ...(isPinned ? [this.button()] : []));
  }

  figures(values) {
    const figures = make("div", undefined, "figures");
    for (const [name, value] of values) {
      const box = make("div"), [number, unit = ""] = value.split(" ");
      box.append(make("b", number), make("span", `${unit} ${name}`));
      figures.append(box);
    }
    return figures;
  }

  button() {
    const close = make("button", "×", "close");
    close.type = "button";
    close.setAttribute("aria-label", "Close");
    close.addEventListener("click", () => this.onClose());
    return close;
  }
}

function list(rows) {
  const list = make("dl");
  for (const [name, value, meaning, className] of rows) {
    const term = make("dt", name);
    if (meaning) term.title = meaning;
    const row = make("div", undefined, className);
    row.append(term, make("dd", value));
    list.append(row);
  }
  return list;
}
