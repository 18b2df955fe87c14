// All fences on one canvas, drawn in one pass: circles to scale, or a line when many are in view of a wide area. With them the tracks, below them the
// names of the base map, above them the speed tests.

// Several links drive the same way: in pixels, from the line of one to the next one's. Small circles are beside each other; one with a radius above
// `mostOffset` stays where it is, and each link has a sector of it.
const laneOfLines = 8.5, mostOffset = 12;
// With so many fences a frame takes long. The canvas is then wider than the view, and moves with the map until its edge comes into view.
const manyFences = 3000, margin = 200;

const FenceLayer = L.Layer.extend({
  initialize(state) {
    this.state = state;
    this.sprites = new Map();
    this.isLine = false;
    this.inView = new Uint8Array(0);
  },

  onAdd(map) {
    this.canvas = L.DomUtil.create("canvas", "fences leaflet-zoom-animated", map.getPane("overlayPane"));
    this.canvas.setAttribute("aria-hidden", "true");
    this.redraw();
  },

  getEvents() {
    return { move: () => this.later(), moveend: this.settle, resize: this.redraw, zoomanim: this.animate, viewreset: this.redraw };
  },

  // In the next frame, once; not while the canvas has all that is in view, unless its content is another one.
  later(isNew = false) {
    if (this.pending || (!isNew && this.isCovered())) return;
    this.pending = requestAnimationFrame(() => this.redraw());
  },

  // When the map stays where it is, the canvas is drawn around there.
  settle() {
    if (!this.isCovered()) return this.redraw();
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.later(true), 200);
  },

  isCovered() {
    const { pad, zoom, size, origin } = this.drawnAt ?? { pad: 0 }, map = this._map;
    if (!pad || zoom !== map.getZoom() || !size.equals(map.getSize())) return false;
    const moved = map.getPixelBounds().min.subtract(origin);
    return Math.abs(moved.x) <= pad && Math.abs(moved.y) <= pad;
  },

  animate(event) {
    const scale = this._map.getZoomScale(event.zoom), { bounds } = this.drawnAt;
    const offset = this._map._latLngBoundsToNewLayerBounds(bounds, event.zoom, event.center).min;
    L.DomUtil.setTransform(this.canvas, offset, scale);
  },

  redraw() {
    if (this.pending) cancelAnimationFrame(this.pending);
    this.pending = 0;
    const map = this._map;
    if (!map || !map._loaded) return;
    clearTimeout(this.settling);
    const view = map.getSize(), ratio = Math.min(devicePixelRatio || 1, 2), canvas = this.canvas, pad = this.padding(view);
    const size = view.add([2 * pad, 2 * pad]), corner = L.point(-pad, -pad);
    this.drawnAt = {
      pad, zoom: map.getZoom(), size: view, origin: map.getPixelBounds().min,
      bounds: L.latLngBounds(map.containerPointToLatLng(corner), map.containerPointToLatLng(corner.add(size))),
    };
    if (canvas.width !== size.x * ratio || canvas.height !== size.y * ratio) {
      [canvas.width, canvas.height] = [size.x * ratio, size.y * ratio];
      [canvas.style.width, canvas.style.height] = [`${size.x}px`, `${size.y}px`];
    }
    L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint(corner));
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.x, size.y);
    const frame = this.frame(pad);
    if (!this.state.hasTiles || !this.state.projection.wraps) this.drawGrid(context, size, frame);
    const shown = this.inFrame(frame, size, pad);
    // The view and a tenth of it around, in degrees.
    const shrunk = 1 / (earth * this.state.projection.metre(map.getCenter().lat));
    const span = Math.max(view.x, view.y * shrunk) * 1.2 / frame.scale * 360;
    this.isLine = shown.length >= 60 && span >= 0.03;
    this.state.basemap?.drawLabels(context, frame, size);
    // The track is a line below the lines, and above the circles, which would hide it.
    if (this.isLine) this.state.tracks.draw(context, frame, size);
    if (this.isLine) this.drawLines(context, frame, size, ratio); else this.drawCircles(context, frame, shown, ratio);
    if (!this.isLine) this.state.tracks.draw(context, frame, size);
    this.state.tests.draw(context, frame, size);
    this.drawn = (this.drawn ?? 0) + 1;
    this.fire("drawn", { shown: shown.length });
  },

  // The pixels around the view that are drawn too.
  padding(view) {
    const { table } = this.state;
    if (table.count < manyFences) return 0;
    const frame = this.frame();
    let near = 0;
    for (let i = 0; i < table.count && near < manyFences; i++) {
      const x = frame.pixelX(table.x[i]), y = frame.pixelY(table.y[i]);
      if (x > 0 && y > 0 && x < view.x && y < view.y) near++;
    }
    return near < manyFences ? 0 : margin;
  },

  // What turns points of the map, 0 to 1, into pixels of the canvas. Where the map wraps, a point is its copy next to the middle of the view.
  frame(pad = 0) {
    const map = this._map, scale = 256 * 2 ** map.getZoom(), corner = map.getPixelBounds().min, [left, top] = [corner.x - pad, corner.y - pad];
    const middle = (corner.x + map.getSize().x / 2) / scale, { wraps } = this.state.projection;
    const pixelX = wraps ? (x) => (x - Math.round(x - middle)) * scale - left : (x) => x * scale - left, pixelY = (y) => y * scale - top;
    return { scale, pixelX, pixelY, at: (x, y) => [pixelX(x), pixelY(y)] };
  },

  // The numbers of the fences on the canvas and a tenth of it around; those in view are noted.
  inFrame({ scale, pixelX, pixelY }, size, pad) {
    const table = this.state.table, shown = [];
    if (this.inView.length < table.capacity) this.inView = new Uint8Array(table.capacity);
    const [padX, padY] = [size.x * 0.1, size.y * 0.1];
    for (let i = 0; i < table.count; i++) {
      const x = pixelX(table.x[i]), y = pixelY(table.y[i]), reach = table.reach[i] * scale;
      const isNear = x > -padX - reach && x < size.x + padX + reach && y > -padY - reach && y < size.y + padY + reach;
      this.inView[i] = isNear && x > pad - reach && x < size.x - pad + reach && y > pad - reach && y < size.y - pad + reach ? 1 : 0;
      if (isNear && this.state.isShown(i)) shown.push(i);
    }
    return shown;
  },

  // Links with fences at the same place are beside each other, in their order from left to right; 0 is the middle.
  lane(i) {
    const { onlyLink, table } = this.state;
    if (onlyLink >= 0 || !table.hasOthers(i)) return 0;
    const { count, place } = table.lanes(i);
    return place - (count - 1) / 2;
  },

  // In pixels, from the place of a fence to the middle of what is drawn of it.
  shiftOf(i) {
    const { table } = this.state, scale = 256 * 2 ** this._map.getZoom(), wide = this.lane(i) * this.laneWidth(table.reach[i] * scale);
    return [-table.headY[i] * wide, table.headX[i] * wide];
  },

  // From lane to lane; from sector to sector for a large circle.
  laneWidth(radius) { return this.isLine ? laneOfLines : radius > mostOffset ? radius : 2 * Math.max(3, radius); },

  hasSector(i, radius) {
    const { onlyLink, table } = this.state, hasWay = table.headX[i] !== 0 || table.headY[i] !== 0;
    return !this.isLine && radius > mostOffset && onlyLink < 0 && hasWay && table.hasOthers(i);
  },

  // The part of a circle for a link, from left to right of the way.
  sector(context, i, x, y, radius) {
    const { table } = this.state, { count, place } = table.lanes(i), wide = 2 * Math.PI / count;
    const from = Math.atan2(table.headY[i], table.headX[i]) + Math.PI + place * wide;
    context.moveTo(x, y);
    context.arc(x, y, radius, from, from + wide);
    context.closePath();
  },

  drawCircles(context, { scale, pixelX, pixelY }, shown, ratio) {
    const { table, classes, colours } = this.state;
    for (const isDim of [true, false]) {
      context.globalAlpha = isDim ? 0.13 : 0.82;
      for (const i of shown) {
        if (this.state.isSelected(i) === isDim) continue;
        const radius = Math.max(3, table.reach[i] * scale), colour = colours[classes[i]], look = this.state.lookOf(i);
        const hasSector = this.hasSector(i, radius), wide = hasSector ? 0 : this.lane(i) * this.laneWidth(radius);
        const x = pixelX(table.x[i]) - table.headY[i] * wide, y = pixelY(table.y[i]) + table.headX[i] * wide;
        if (radius <= 24 && !hasSector) {
          const sprite = this.sprite(colour, Math.round(radius * 2) / 2, look, ratio);
          context.drawImage(sprite, x - sprite.half, y - sprite.half, sprite.half * 2, sprite.half * 2);
        } else {
          context.beginPath();
          if (hasSector) this.sector(context, i, x, y, radius); else context.arc(x, y, radius, 0, 7);
          this.paint(context, colour, look);
        }
      }
    }
    context.globalAlpha = 1;
  },

  // Fences that Wi-Fi touched are dashed rings, those where nothing was measured thin ones.
  paint(context, colour, look) {
    if (look === "full") {
      context.fillStyle = colour;
      context.fill();
    }
    context.setLineDash(look === "wifi" ? [3, 3] : []);
    context.lineWidth = look === "wifi" ? 2 : 1;
    context.strokeStyle = look === "full" ? mixed(colour, "#000000", 0.4) : colour;
    context.stroke();
    context.setLineDash([]);
  },

  // A small circle is drawn once and stamped ever after.
  sprite(colour, radius, look, ratio) {
    const key = `${colour} ${radius} ${look} ${ratio}`;
    let sprite = this.sprites.get(key);
    if (sprite) return sprite;
    if (this.sprites.size > 2000) this.sprites.clear();
    const half = Math.ceil(radius + 2);
    sprite = document.createElement("canvas");
    sprite.width = sprite.height = half * 2 * ratio;
    const context = sprite.getContext("2d");
    context.scale(ratio, ratio);
    context.beginPath();
    context.arc(half, half, radius, 0, 7);
    this.paint(context, colour, look);
    sprite.half = half;
    this.sprites.set(key, sprite);
    return sprite;
  },

  // A stretch has one colour and one look; the next one begins where it ends. Points within a pixel and a half of the last one are left out.
  drawLines(context, frame, size, ratio) {
    const { table, classes, colours } = this.state;
    const paths = new Map(), dots = [];
    const pathOf = (key) => {
      if (!paths.has(key)) paths.set(key, new Path2D());
      return paths.get(key);
    };
    let key = null, path = null, fromX = 0, fromY = 0, lastX = 0, lastY = 0, lastShown = -2, alone = -1;
    const far = 40;
    for (let i = 0; i < table.count; i++) {
      if (!this.state.isShown(i)) continue;
      const wide = this.lane(i) * laneOfLines, y = frame.pixelY(table.y[i]) + table.headX[i] * wide;
      let x = frame.pixelX(table.x[i]) - table.headY[i] * wide;
      if (table.joined[i] && lastShown === i - 1) {
        // The copy next to the last one, also where that is beyond the edge of the Earth.
        if (this.state.projection.wraps) x -= Math.round((x - lastX) / frame.scale) * frame.scale;
        alone = -1;
        const isOutside = (x < -far && lastX < -far) || (y < -far && lastY < -far) ||
          (x > size.x + far && lastX > size.x + far) || (y > size.y + far && lastY > size.y + far);
        const next = classes[i - 1] * 8 + table.look[i - 1] * 2 + (this.state.isSelected(i - 1) ? 1 : 0);
        if (isOutside) {
          key = null;
        } else {
          if (next !== key) {
            if (key !== null) path.lineTo(lastX, lastY);
            key = next;
            path = pathOf(key);
            path.moveTo(lastX, lastY);
            [fromX, fromY] = [lastX, lastY];
          }
          const ends = !(i + 1 < table.count && table.joined[i + 1]);
          if (ends || Math.abs(x - fromX) + Math.abs(y - fromY) > 1.5) {
            path.lineTo(x, y);
            [fromX, fromY] = [x, y];
          }
        }
      } else {
        if (key !== null) path.lineTo(lastX, lastY);
        if (alone >= 0) dots.push(alone);
        key = null;
        alone = i;
      }
      [lastX, lastY, lastShown] = [x, y, i];
    }
    if (key !== null) path.lineTo(lastX, lastY);
    if (alone >= 0) dots.push(alone);
    context.lineJoin = context.lineCap = "round";
    for (const isCasing of [true, false]) {
      for (const isDim of [true, false]) {
        context.globalAlpha = isDim ? 0.16 : 1;
        for (const [key, path] of paths) {
          const colour = colours[key >> 3], look = looks[key >> 1 & 3];
          if ((key % 2 === 0) !== isDim || (isCasing && (isDim || look !== "full"))) continue;
          context.setLineDash(look === "wifi" ? [4, 7] : []);
          context.lineWidth = isCasing ? 8 : look === "full" ? 5.5 : look === "wifi" ? 4 : 1.5;
          context.strokeStyle = isCasing ? mixed(colour, "#000000", 0.55) : colour;
          context.stroke(path);
        }
      }
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    this.drawCircles(context, frame, dots, ratio);
  },

  // Lines of latitude and longitude, so that an empty ground shows how far it is.
  drawGrid(context, size, frame) {
    context.strokeStyle = this.state.style.grid;
    context.fillStyle = this.state.style.soft;
    context.lineWidth = 1;
    context.font = `11px ${this.state.style.font}`;
    if (this.state.projection.wraps) this.drawSquares(context, size); else this.drawCircumpolar(context, size, frame);
  },

  // Around a pole: circles of latitude, and every 30th meridian.
  drawCircumpolar(context, size, { scale, at }) {
    const { sign } = this.state.projection, [x, y] = at(0.5, 0.5), degree = scale / 360;
    const step = [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].find((step) => step * degree >= 110) ?? 30;
    const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
    const nearest = Math.hypot(Math.max(-x, 0, x - size.x), Math.max(-y, 0, y - size.y)), farthest = Math.hypot(Math.max(x, size.x - x), Math.max(y, size.y - y));
    for (let n = Math.max(1, Math.floor(nearest / degree / step)), end = n + 60; n * step * degree < farthest && n < end; n++) {
      const reach = n * step * degree, angle = Math.atan2(size.y / 2 - y, size.x / 2 - x);
      context.beginPath();
      context.arc(x, y, reach, 0, 7);
      context.stroke();
      context.fillText(`${(90 - n * step).toFixed(digits)}° ${sign > 0 ? "N" : "S"}`, x + reach * Math.cos(angle) + 4, y + reach * Math.sin(angle) - 4);
    }
    for (let longitude = 0; longitude < 360; longitude += 30) {
      const [toX, toY] = this.state.projection.project(0, longitude), [endX, endY] = at(toX, toY);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(endX, endY);
      context.stroke();
    }
  },

  drawSquares(context, size) {
    const map = this._map, { bounds, pad } = this.drawnAt;
    const steps = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 45];
    const width = bounds.getEast() - bounds.getWest();
    const step = steps.find((step) => step / width * size.x >= 110) ?? 90;
    const digits = Math.max(0, Math.min(4, Math.ceil(-Math.log10(step) - 1e-9)));
    const line = (x1, y1, x2, y2) => {
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      context.stroke();
    };
    for (let n = Math.ceil(bounds.getWest() / step), end = n + 60; n * step < bounds.getEast() && n < end; n++) {
      const x = Math.round(map.latLngToContainerPoint([bounds.getNorth(), n * step]).x) + pad + 0.5;
      line(x, 0, x, size.y);
      const degrees = L.Util.wrapNum(n * step, [-180, 180], true);
      if (x > 60 && x < size.x - 60) context.fillText(`${Math.abs(degrees).toFixed(digits)}° ${degrees < 0 ? "W" : "E"}`, x + 4, 13);
    }
    for (let n = Math.ceil(bounds.getSouth() / step), end = n + 60; n * step < bounds.getNorth() && n < end; n++) {
      const y = Math.round(map.latLngToContainerPoint([n * step, bounds.getWest()]).y) + pad + 0.5;
      line(0, y, size.x, y);
      if (y > 100 && y < size.y - 40) context.fillText(`${Math.abs(n * step).toFixed(digits)}° ${n < 0 ? "S" : "N"}`, 8, y - 4);
    }
  },

  // The speed test or else the fence at a point of the map's container; null for none.
  itemAt(point, reach) {
    const test = this.state.tests.near(point, Math.min(reach, 16), this.frame());
    if (test) return test;
    const i = this.fenceAt(point, reach);
    return i < 0 ? null : new FenceItem(this.state, i);
  },

  // The fence whose centre is nearest, within its radius or a fingertip.
  fenceAt(point, reach) {
    const { table } = this.state, { scale, pixelX, pixelY } = this.frame();
    let best = -1, nearest = Infinity;
    for (let i = 0; i < table.count; i++) {
      const wide = this.lane(i) * this.laneWidth(table.reach[i] * scale);
      const x = pixelX(table.x[i]) - table.headY[i] * wide - point.x, y = pixelY(table.y[i]) + table.headX[i] * wide - point.y;
      const distance = x * x + y * y, radius = Math.max(reach, table.reach[i] * scale);
      if (distance < nearest && distance <= radius * radius && this.state.isShown(i)) [best, nearest] = [i, distance];
    }
    return best;
  },
});
Object.assign(FenceLayer.prototype, L.Evented.prototype);
