// The graph of delay and loss over time. It calls `on.hover(i)`, `on.select(range)` and `on.play()`; pauses between drives are short on it.
class Timeline {
  constructor(element, state, on) {
    [this.element, this.state, this.on] = [element, state, on];
    [this.graph, this.marks] = element.querySelectorAll("canvas");
    this.cursor = -1;
    new ResizeObserver(() => this.draw()).observe(element);
    element.addEventListener("pointermove", (event) => this.moved(event));
    element.addEventListener("pointerdown", (event) => this.pressed(event));
    element.addEventListener("pointerup", (event) => this.released(event));
    element.addEventListener("pointercancel", () => { this.from = undefined; });
    element.addEventListener("pointerleave", () => { if (this.from === undefined) this.on.hover(-1); });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  get width() { return this.element.clientWidth; }
  get height() { return this.element.clientHeight; }

  x(place) { return this.left + this.state.table.along[place] / this.state.table.length * (this.width - this.left - 4); }

  placeAt(x) {
    const table = this.state.table, share = (x - this.left) / Math.max(1, this.width - this.left - 4);
    return table.placeAt(Math.max(0, Math.min(1, share)) * table.length);
  }

  // ---- Pointer and keys

  eventX(event) { return event.clientX - this.element.getBoundingClientRect().left; }

  pressed(event) {
    if (event.button > 0 || !this.state.table.count) return;
    this.from = this.eventX(event);
    this.element.setPointerCapture(event.pointerId);
  }

  moved(event) {
    const table = this.state.table;
    if (!table.count) return;
    const x = this.eventX(event), place = this.placeAt(x);
    if (this.from !== undefined && Math.abs(x - this.from) > 4) {
      const ends = [this.placeAt(this.from), place];
      this.on.select({ from: Math.min(...ends), to: Math.max(...ends) });
    }
    this.on.hover(table.order[place]);
  }

  released(event) {
    if (this.from === undefined) return;
    const x = this.eventX(event), isClick = Math.abs(x - this.from) <= 4;
    this.from = undefined;
    if (isClick) this.on.pick(this.state.table.order[this.placeAt(x)]);
  }

  key(event) {
    const table = this.state.table, last = table.count - 1;
    if (event.key === " ") this.on.play();
    else if (event.key === "Escape") this.on.select(null);
    else if (last >= 0) {
      const place = this.cursor < 0 ? 0 : table.rank[this.cursor];
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 20, PageDown: -20, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      const next = this.cursor < 0 ? 0 : Math.max(0, Math.min(last, place + steps[event.key]));
      if (event.shiftKey) {
        this.anchor ??= place;
        this.on.select({ from: Math.min(this.anchor, next), to: Math.max(this.anchor, next) });
      } else this.anchor = undefined;
      this.on.pick(table.order[next]);
    } else return;
    event.preventDefault();
  }

  // ---- Drawing

  context(canvas) {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    [canvas.width, canvas.height] = [this.width * ratio, this.height * ratio];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  // The fences of each pixel: the median of medians would need sorting; the mean of medians, the highest 95th percentile, the loss.
  pixels() {
    const { table, classes } = this.state, width = Math.max(1, Math.ceil(this.width));
    const pixels = Array.from({ length: width }, () => null);
    table.order.forEach((i, place) => {
      if (!this.state.isShown(i)) return;
      const x = Math.floor(this.x(place));
      const pixel = (pixels[x] ??= { delay: 0, answered: 0, top: 0, pings: 0, lost: 0, colour: 0, first: i });
      const delay = Number.isNaN(table.median[i]) ? table.mean[i] : table.median[i];
      if (!Number.isNaN(delay)) {
        pixel.delay += delay;
        pixel.answered++;
        pixel.top = Math.max(pixel.top, Number.isNaN(table.p95[i]) ? delay : table.p95[i]);
      }
      pixel.pings += table.pings[i] || 0;
      pixel.lost += table.lost[i] || 0;
      pixel.colour = Math.max(pixel.colour, classes[i]);
      const end = table.along[place] + (table.duration[i] || 0);
      pixel.end = Math.max(pixel.end ?? x, Math.floor(this.left + end / table.length * (this.width - this.left - 4)));
    });
    return pixels;
  }

  draw() {
    const { table, style, colours } = this.state;
    this.left = 52;
    const context = this.context(this.graph);
    if (!table.count || this.width < 80) return this.drawMarks();
    const pixels = this.pixels(), base = this.height - 26, roof = 6;
    const tops = pixels.filter((pixel) => pixel?.answered).map((pixel) => pixel.top).sort((a, b) => a - b);
    // A logarithmic scale: 20 ms and 2 s are both of interest.
    const lows = pixels.filter((pixel) => pixel?.answered).map((pixel) => pixel.delay / pixel.answered).sort((a, b) => a - b);
    const top = niceTop(tops[Math.floor(tops.length * 0.995)] || 100), low = Math.min(top / 10, niceTop((lows[0] || 10) / 2.5));
    const y = (delay) => base - Math.max(0, Math.min(1, Math.log(delay / low) / Math.log(top / low))) * (base - roof);
    this.drawAxes(context, low, top, y);
    let last = null;
    pixels.forEach((pixel, x) => {
      if (!pixel) return;
      const wide = Math.max(1, pixel.end - x);
      if (pixel.answered) {
        const delay = y(pixel.delay / pixel.answered), high = y(pixel.top);
        context.fillStyle = style.band;
        context.fillRect(x, high, wide, Math.max(0, delay - high));
        context.strokeStyle = style.delay;
        context.lineWidth = 1.8;
        context.beginPath();
        if (last && x - last.x < 14) context.moveTo(last.x, last.y);
        context.lineTo(x, delay);
        context.lineTo(x + wide, delay);
        context.stroke();
        last = { x: x + wide, y: delay };
      } else last = null;
      if (pixel.lost > 0) {
        const share = pixel.lost / pixel.pings;
        context.fillStyle = style.loss;
        context.globalAlpha = 0.35 + 0.65 * share;
        context.fillRect(x, base - Math.max(2, share * (base - roof)), wide, Math.max(2, share * (base - roof)));
        context.globalAlpha = 1;
      }
      context.fillStyle = colours[pixel.colour];
      context.fillRect(x, base + 1, wide, 5);
    });
    this.drawTimes(context, base);
    this.drawMarks();
  }

  drawAxes(context, low, top, y) {
    const { style } = this.state;
    context.font = `11px ${style.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    let free = Infinity;
    for (let tick = low, end = 20; tick <= top * 1.001 && end > 0; tick = niceTop(tick * 1.001), end--) {
      if (y(tick) > free) continue;
      free = y(tick) - 22;
      context.strokeStyle = style.grid;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(this.left, Math.round(y(tick)) + 0.5);
      context.lineTo(this.width, Math.round(y(tick)) + 0.5);
      context.stroke();
      context.fillStyle = style.soft;
      context.fillText(tick < 1000 ? `${tick} ms` : `${tick / 1000} s`, this.left - 5, Math.max(8, y(tick)));
    }
  }

  drawTimes(context, base) {
    const { table, style } = this.state;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = style.soft;
    let free = this.left, day = "";
    const label = (place) => {
      const i = table.order[place], x = this.x(place), isNewDay = table.day(i) !== day;
      const text = isNewDay ? `${table.day(i)} ${table.time(i)}`.trim() : table.time(i), wide = context.measureText(text).width;
      if (x < free || x + wide > this.width) return;
      context.fillText(text, x, this.height - 4);
      free = x + wide + 26;
      day = table.day(i);
    };
    const steps = Math.max(2, Math.floor(this.width / 150));
    const places = [0, ...table.pauses];
    for (let n = 1; n < steps; n++) places.push(table.placeAt(table.length * n / steps));
    for (const place of places.sort((a, b) => a - b)) label(place);
    context.setLineDash([2, 3]);
    context.strokeStyle = style.soft;
    for (const place of table.pauses) {
      const x = Math.round(this.x(place)) - 3.5;
      context.beginPath();
      context.moveTo(x, 4);
      context.lineTo(x, base);
      context.stroke();
    }
    context.setLineDash([]);
  }

  // What is in view on the map, the selection and the cursor.
  drawMarks() {
    const { table, style, selection } = this.state, context = this.context(this.marks), base = this.height - 26;
    if (!table.count || this.left === undefined) return;
    const inView = this.state.layer?.inView;
    context.fillStyle = style.soft;
    if (inView) {
      let last = -1;
      table.order.forEach((i, place) => {
        if (!inView[i] || !this.state.isShown(i)) return;
        const x = Math.floor(this.x(place));
        if (x <= last) return;
        const wide = Math.ceil((table.duration[i] || 0) / table.length * (this.width - this.left - 4));
        context.fillRect(last = x, base + 7, Math.max(2, wide + 1), 3);
      });
    }
    if (selection) {
      const from = this.x(selection.from), end = table.order[selection.to];
      const to = Math.max(from + 2, this.x(selection.to) + (table.duration[end] || 0) / table.length * (this.width - this.left - 4));
      context.fillStyle = style.shade;
      context.fillRect(from, 0, to - from, base);
      context.fillStyle = style.delay;
      context.fillRect(from - 1, 0, 2, base);
      context.fillRect(to - 1, 0, 2, base);
    }
    if (this.cursor >= 0 && this.cursor < table.count) {
      const x = Math.round(this.x(table.rank[this.cursor]));
      context.fillStyle = style.ink;
      context.fillRect(x - 0.75, 0, 1.5, base + 10);
      context.beginPath();
      context.arc(x, 4, 4, 0, 7);
      context.fill();
    }
  }

  // Soon, and not in each frame of a movement.
  marksLater() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.drawMarks();
    }, 120);
  }

  show(i) {
    this.cursor = i;
    this.drawMarks();
  }
}

function niceTop(value) {
  const size = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * size).find((top) => top >= value);
}
