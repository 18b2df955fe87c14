// The graph of delay and loss over time, with the speed tests above it. It calls `on.hover(item)`, `on.pick(item)`, `on.select(range)` and
// `on.play()`.
class Timeline {
  constructor(element, state, on) {
    [this.element, this.state, this.on] = [element, state, on];
    [this.graph, this.marks] = element.querySelectorAll("canvas");
    this.cursor = null;
    new ResizeObserver(() => this.draw()).observe(element);
    element.addEventListener("pointermove", (event) => this.moved(event));
    element.addEventListener("pointerdown", (event) => this.pressed(event));
    element.addEventListener("pointerup", (event) => this.released(event));
    element.addEventListener("pointercancel", () => { this.from = undefined; });
    element.addEventListener("pointerleave", () => { if (this.from === undefined) this.on.hover(null); });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  get width() { return this.element.clientWidth; }
  get height() { return this.element.clientHeight; }

  // Pixels of a length along the axis.
  wide(length) { return length / this.state.axis.length * (this.width - this.left - 4); }

  x(along) { return this.left + this.wide(along); }

  along(x) {
    const share = (x - this.left) / Math.max(1, this.width - this.left - 4);
    return Math.max(0, Math.min(1, share)) * this.state.axis.length;
  }

  get isEmpty() { return !this.state.axis.walk.length; }

  // The height of the marks of speed tests at the top; 0 without any.
  get lane() { return this.state.tests.shown.length ? 17 : 0; }

  // Where the mark of a speed test begins, and how wide it is beyond a square.
  mark(test) {
    const { axis } = this.state, x = this.x(axis.along(test.time));
    return { x, wide: Math.max(0, this.x(axis.along(test.end)) - x - 8) };
  }

  // The speed test whose mark is at a point; above the graph the next one, below it only one that is hit.
  testAt(x, y) {
    let best = null, nearest = y <= this.lane + 6 ? 14 : -1;
    for (const test of this.state.tests.shown) {
      const mark = this.mark(test), distance = Math.max(mark.x - 6 - x, x - mark.x - mark.wide - 6, 0);
      if (distance <= nearest) [best, nearest] = [test, distance];
    }
    return best;
  }

  itemAt(x, y) {
    const { axis, table, tests } = this.state;
    if (!table.count) return this.testAt(x, 0) ?? tests.shown.findLast((test) => this.mark(test).x <= x) ?? tests.shown[0] ?? null;
    return this.testAt(x, y) ?? new FenceItem(this.state, table.order[axis.fenceAt(this.along(x))]);
  }

  // ---- Pointer and keys

  point(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  pressed(event) {
    if (event.button > 0 || this.isEmpty) return;
    [this.from] = this.point(event);
    this.element.setPointerCapture(event.pointerId);
  }

  moved(event) {
    if (this.isEmpty) return;
    const [x, y] = this.point(event);
    if (this.from !== undefined && Math.abs(x - this.from) > 4) this.on.select(this.range(this.along(this.from), this.along(x)));
    this.on.hover(this.itemAt(x, y));
  }

  // The fences and the time between two places of the axis.
  range(one, other) {
    const { axis } = this.state, [low, high] = [Math.min(one, other), Math.max(one, other)];
    return { from: axis.fenceAt(low), to: axis.fencesUntil(high) - 1, start: axis.timeAt(low), end: axis.timeAt(high) };
  }

  released(event) {
    if (this.from === undefined) return;
    const [x, y] = this.point(event), isClick = Math.abs(x - this.from) <= 4;
    this.from = undefined;
    if (isClick) this.on.pick(this.itemAt(x, y));
  }

  key(event) {
    const { axis } = this.state, last = axis.walk.length - 1;
    if (event.key === " ") this.on.play();
    else if (event.key === "Escape") this.on.select(null);
    else if (last >= 0) {
      const place = this.cursor ? Math.max(0, axis.placeOf(this.cursor)) : 0;
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 20, PageDown: -20, Home: -Infinity, End: Infinity };
      if (!(event.key in steps)) return;
      const next = !this.cursor ? 0 : Math.max(0, Math.min(last, place + steps[event.key]));
      if (event.shiftKey) {
        this.anchor ??= place;
        this.on.select(axis.range(Math.min(this.anchor, next), Math.max(this.anchor, next)));
      } else this.anchor = undefined;
      this.on.pick(axis.item(next));
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
    const { table, classes, axis } = this.state, width = Math.max(1, Math.ceil(this.width));
    const pixels = Array.from({ length: width }, () => null), scale = this.wide(1);
    table.order.forEach((i, place) => {
      if (!this.state.isShown(i)) return;
      const x = Math.floor(this.left + axis.fences[place] * scale);
      const pixel = (pixels[x] ??= { delay: 0, answered: 0, top: 0, pings: 0, lost: 0, colour: -1 });
      const delay = Number.isNaN(table.median[i]) ? table.mean[i] : table.median[i];
      if (!Number.isNaN(delay)) {
        pixel.delay += delay;
        pixel.answered++;
        pixel.top = Math.max(pixel.top, Number.isNaN(table.p95[i]) ? delay : table.p95[i]);
      }
      // The worst class and the loss; what was not measured says nothing beside what was.
      if (table.isMeasured(i)) {
        pixel.pings += table.pings[i];
        pixel.lost += table.lost[i];
        pixel.colour = Math.max(pixel.colour, classes[i]);
      } else pixel.open ??= classes[i];
      const end = axis.fences[place] + table.measuredTime(i);
      pixel.end = Math.max(pixel.end ?? x, Math.floor(this.left + end * scale));
    });
    return pixels;
  }

  draw() {
    const { style, colours } = this.state;
    this.left = 52;
    const context = this.context(this.graph);
    if (this.isEmpty || this.width < 80) return this.drawMarks();
    const pixels = this.pixels(), base = this.height - 26, roof = 6 + this.lane;
    this.drawTests(context, base);
    const tops = pixels.filter((pixel) => pixel?.answered).map((pixel) => pixel.top).sort((a, b) => a - b);
    // A logarithmic scale: 20 ms and 2 s are both of interest.
    const lows = pixels.filter((pixel) => pixel?.answered).map((pixel) => pixel.delay / pixel.answered).sort((a, b) => a - b);
    const top = niceTop(tops[Math.floor(tops.length * 0.995)] || 100), low = Math.min(top / 10, niceTop((lows[0] || 10) / 2.5));
    const y = (delay) => base - Math.max(0, Math.min(1, Math.log(delay / low) / Math.log(top / low))) * (base - roof);
    if (this.state.table.count) this.drawAxes(context, low, top, y);
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
        if (last && x - last.x < 3) context.moveTo(last.x, last.y);
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
      // A thin line where nothing was measured.
      context.fillStyle = colours[pixel.colour < 0 ? pixel.open : pixel.colour];
      context.fillRect(x, base + (pixel.colour < 0 ? 3 : 1), wide, pixel.colour < 0 ? 1 : 5);
    });
    this.drawTimes(context, base);
    this.drawMarks();
  }

  // Each speed test from its start to its end.
  drawTests(context, base) {
    for (const test of this.state.tests.shown) {
      const { x, wide } = this.mark(test);
      const alpha = this.state.isTestSelected(test) ? 1 : 0.3;
      context.globalAlpha = alpha / 2;
      context.fillStyle = this.state.style.shade;
      context.fillRect(x, this.lane - 4, Math.max(1.5, wide + 8), base - this.lane + 4);
      context.globalAlpha = alpha;
      drawSquare(context, x + 4, 7.5, 4, test.look, test.colour, wide);
    }
    context.globalAlpha = 1;
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
    const { table, style, axis } = this.state;
    context.textAlign = "left";
    context.textBaseline = "alphabetic";
    context.fillStyle = style.soft;
    let free = this.left, day = "";
    const label = (along) => {
      const at = axis.timeAt(along), x = this.x(along), isNewDay = table.dayText(at) !== day;
      const text = isNewDay ? table.moment(at) : table.timeText(at), wide = context.measureText(text).width;
      if (x < free || x + wide > this.width) return;
      context.fillText(text, x, this.height - 4);
      free = x + wide + 26;
      day = table.dayText(at);
    };
    const steps = Math.max(2, Math.floor(this.width / 150));
    const places = [0, ...axis.pauses];
    for (let n = 1; n < steps; n++) places.push(axis.length * n / steps);
    for (const along of places.sort((a, b) => a - b)) label(along);
    context.setLineDash([2, 3]);
    context.strokeStyle = style.soft;
    for (const along of axis.pauses) {
      const x = Math.round(this.x(along)) - 3.5;
      context.beginPath();
      context.moveTo(x, 4);
      context.lineTo(x, base);
      context.stroke();
    }
    context.setLineDash([]);
  }

  // What is in view on the map, the selection and the cursor.
  drawMarks() {
    const { table, axis, style, selection } = this.state, context = this.context(this.marks), base = this.height - 26;
    if (this.isEmpty || this.left === undefined) return;
    const inView = this.state.layer?.inView, scale = this.wide(1);
    context.fillStyle = style.soft;
    if (inView) {
      let last = -1;
      table.order.forEach((i, place) => {
        if (!inView[i] || !this.state.isShown(i)) return;
        const x = Math.floor(this.left + axis.fences[place] * scale);
        if (x <= last) return;
        const wide = Math.ceil((table.duration[i] || 0) * scale);
        context.fillRect(last = x, base + 7, Math.max(2, wide + 1), 3);
      });
    }
    if (selection) {
      const from = this.x(axis.along(selection.start)), to = Math.max(from + 2, this.x(axis.along(selection.end)));
      context.fillStyle = style.shade;
      context.fillRect(from, 0, to - from, base);
      context.fillStyle = style.delay;
      context.fillRect(from - 1, 0, 2, base);
      context.fillRect(to - 1, 0, 2, base);
    }
    if (this.cursor) {
      const x = Math.round(this.x(axis.along(this.cursor.time)));
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

  show(item) {
    this.cursor = item;
    this.drawMarks();
  }
}

function niceTop(value) {
  const size = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((step) => step * size).find((top) => top >= value);
}
