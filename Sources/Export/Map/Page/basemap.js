// The user's own base map: tiles on canvases, the nearest zoom that is there drawn larger where a tile is missing.

// The tiles in the page: for each its place in a list of contents in base64.
class EmbeddedTiles {
  constructor({ tiles, data, ...about }) { Object.assign(this, about, { tiles: new Map(Object.entries(tiles)), data }); }

  async bytes(key) {
    const place = this.tiles.get(key);
    if (place === undefined) return null;
    const text = atob(this.data[place]), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }
}

const BasemapLayer = L.GridLayer.extend({
  options: { minZoom: 1, maxZoom: 20, className: "basemap" },

  initialize(source, state) {
    L.setOptions(this, { attribution: escapedText(source.attribution || "Base map: a file") });
    [this.source, this.state] = [source, state];
    // The contents that were used last, unpacked.
    this.read = new Map();
    [this.waiting, this.widths] = [[], new Map()];
    this.on("tileunload", ({ tile }) => { tile.isGone = true; });
  },

  createTile(coords, done) {
    const tile = document.createElement("canvas"), ratio = Math.min(devicePixelRatio || 1, 2);
    tile.width = tile.height = 256 * ratio;
    tile.setAttribute("aria-hidden", "true");
    this.waiting.push({ tile, coords, done });
    this.work();
    return tile;
  },

  // One tile after the other, and the page has its turn between two.
  async work() {
    if (this.isWorking) return;
    this.isWorking = true;
    while (this.waiting.length) {
      const { tile, coords, done } = this.waiting.shift();
      if (tile.isGone) continue;
      tile.found = await this.find(coords).catch(() => null);
      this.paint(tile, coords);
      done(null, tile);
      await new Promise((resolve) => setTimeout(resolve));
    }
    this.isWorking = false;
    this.fire("painted");
  },

  // The content of the tile, or of the nearest one above it.
  async find({ x, y, z }) {
    const { least_zoom: least, most_zoom: most } = this.source, across = 2 ** z;
    for (let up = Math.max(0, z - most); z - up >= Math.max(0, least); up++) {
      const factor = 2 ** up, column = Math.floor(((x % across) + across) % across / factor), row = Math.floor(y / factor);
      const content = await this.content(`${z - up}/${column}/${row}`);
      if (content) return { content, factor, left: ((x % factor) + factor) % factor, above: y % factor, scale: 2 ** (z - up), column, row };
    }
    return null;
  },

  content(key) {
    let content = this.read.get(key);
    // A tile that could not be fetched is asked for again with the next tile that needs it.
    content ??= this.source.bytes(key).catch(() => { this.read.delete(key); }).then((bytes) => bytes && this.open(bytes)).catch(() => null);
    // The last one is the newest.
    this.read.delete(key);
    this.read.set(key, content);
    if (this.read.size > 200) this.read.delete(this.read.keys().next().value);
    return content;
  },

  async open(bytes) {
    if (!this.source.is_vector) return { image: await createImageBitmap(new Blob([bytes])) };
    const raw = await unpacked(bytes);
    return raw && { layers: readVectorTile(raw) };
  },

  // All tiles in another theme, at once.
  repaint() { for (const { el, coords } of Object.values(this._tiles ?? {})) if (el.found !== undefined) this.paint(el, coords); },

  paint(tile, coords) {
    const context = tile.getContext("2d"), { found } = tile, ratio = tile.width / 256;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, 256, 256);
    if (!found) return;
    if (found.content.image) this.paintImage(context, found); else this.paintLayers(context, found, coords.z);
  },

  paintImage(context, { content: { image }, factor, left, above }) {
    const [wide, high] = [image.width / factor, image.height / factor];
    // Dimmed: a light map would outshine a dark page.
    context.globalAlpha = this.state.isDark ? 0.55 : 1;
    context.drawImage(image, left * wide, above * high, wide, high, 0, 0, 256, 256);
    context.globalAlpha = 1;
  },

  // Features of one look are one path.
  paintLayers(context, { content, factor, left, above }, zoom) {
    const paths = new Map(), budget = { points: mostPoints };
    for (const layer of content.layers) {
      const scale = 256 * factor / layer.extent;
      for (const feature of layer.features) {
        for (const look of looksOfFeature(layer.name, feature)) {
          if (!paths.has(look)) paths.set(look, new Path2D());
          try { traceFeature(feature, scale, left * 256, above * 256, paths.get(look), budget); } catch { /* A cut feature ends where it is cut. */ }
        }
      }
    }
    context.lineJoin = context.lineCap = "round";
    for (const { name, light, dark, width, dashes } of groundLooks) {
      const path = paths.get(name);
      if (!path) continue;
      context.fillStyle = context.strokeStyle = this.state.isDark ? dark : light;
      if (width === undefined) { context.fill(path); continue; }
      context.lineWidth = groundWidth(width, zoom);
      context.setLineDash(dashes);
      context.stroke(path);
      context.setLineDash([]);
    }
  },

  // ---- Names of places, above the tiles and across their edges

  // The labels of a content, with their places on the map.
  labels(found) {
    if (found.content.labels) return found.content.labels;
    const labels = [], budget = { points: 2000 };
    for (const layer of found.content.layers ?? []) {
      for (const feature of layer.features) {
        const label = labelOfFeature(layer.name, feature);
        if (!label || budget.points <= 0) continue;
        const set = (x, y) => Object.assign(label, { x: (found.column + x) / found.scale, y: (found.row + y) / found.scale });
        try { traceFeature(feature, 1 / layer.extent, 0, 0, { moveTo: set, lineTo: set, closePath() {} }, budget); } catch { continue; }
        if (Number.isFinite(label.x)) labels.push(label);
      }
    }
    return (found.content.labels = labels);
  },

  drawLabels(context, { pixelX, pixelY }, size) {
    const lists = new Set();
    for (const { el, current } of Object.values(this._tiles ?? {})) if (current && el.found?.content.layers) lists.add(this.labels(el.found));
    const all = [...lists].flat().map((label) => ({ label, x: pixelX(label.x), y: pixelY(label.y) }))
      .filter(({ x, y }) => x > -60 && y > -20 && x < size.x + 60 && y < size.y + 20).sort((a, b) => a.label.rank - b.label.rank);
    const boxes = [];
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.fillStyle = this.state.style.soft;
    context.strokeStyle = this.state.style.ground;
    for (const { label: { name, rank }, x, y } of all) {
      const font = `${rank < 2 ? 600 : 500} ${[13, 14, 12, 12.5, 11.5, 11][rank] ?? 10.5}px ${this.state.style.font}`;
      context.font = font;
      const half = this.width(context, font, name) / 2 + 4, box = [x - half, x + half, y - 9, y + 9];
      if (boxes.some(([left, right, top, bottom]) => box[0] < right && box[1] > left && box[2] < bottom && box[3] > top)) continue;
      boxes.push(box);
      context.strokeText(name, x, y);
      context.fillText(name, x, y);
      if (boxes.length >= 60) break;
    }
    context.textAlign = "start";
    context.textBaseline = "alphabetic";
  },

  width(context, font, name) {
    const key = `${font} ${name}`;
    if (!this.widths.has(key)) {
      if (this.widths.size > 5000) this.widths.clear();
      this.widths.set(key, context.measureText(name).width);
    }
    return this.widths.get(key);
  },
});

// Leaflet shows an attribution as HTML.
function escapedText(text) { return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`); }
