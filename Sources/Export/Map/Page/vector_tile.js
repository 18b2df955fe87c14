// Reads vector tiles (https://github.com/mapbox/vector-tile-spec, 2.1). A tile is from outside: each length is compared with what is there, and
// the numbers of layers, texts, features and points have limits, so that no tile can hold the page.
const mostLayers = 200, mostTexts = 50000, mostFeatures = 20000, mostPoints = 200000, mostUnpacked = 4 << 20;
const utf8 = new TextDecoder();

// Fields of a message in the wire format of Protocol Buffers.
class WireReader {
  constructor(bytes, from = 0, to = bytes.length) { [this.bytes, this.at, this.end] = [bytes, from, to]; }

  varint() {
    let value = 0, factor = 1;
    for (let n = 0; n < 10; n++) {
      if (this.at >= this.end) throw new RangeError("the tile is cut");
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
    throw new RangeError("a number of the tile is too long");
  }

  // The content of a field with a length.
  part() {
    const length = this.varint();
    if (length > this.end - this.at) throw new RangeError("the tile is cut");
    this.at += length;
    return new WireReader(this.bytes, this.at - length, this.at);
  }

  text() { return utf8.decode(this.bytes.subarray(this.at, this.end)); }

  // Calls `read(number)` for each field; a field that it does not read (it returns false) is skipped.
  fields(read) {
    while (this.at < this.end) {
      const key = this.varint(), number = Math.floor(key / 8), wire = key % 8;
      if (read(number) !== false) continue;
      if (wire === 0) this.varint();
      else if (wire === 1) this.at += 8;
      else if (wire === 2) this.part();
      else if (wire === 5) this.at += 4;
      else throw new RangeError("the tile has an unknown field");
    }
  }
}

// The layers of a tile: name, extent, and features, whose geometry stays as it is until it is drawn.
function readVectorTile(bytes) {
  const layers = [], limits = { layers: mostLayers, texts: mostTexts, features: mostFeatures };
  const tile = new WireReader(bytes);
  tile.fields((number) => number === 3 && limits.layers-- > 0 ? layers.push(readLayer(tile.part(), limits)) : false);
  return layers;
}

function readLayer(reader, limits) {
  const layer = { name: "", extent: 4096, features: [] }, keys = [], values = [], parts = [];
  let name;
  reader.fields((number) => {
    if (number === 1) name = reader.part();
    else if (number === 2) { if (limits.features-- > 0) parts.push(reader.part()); else reader.part(); }
    else if ((number === 3 || number === 4) && limits.texts-- <= 0) return false;
    else if (number === 3) keys.push(reader.part().text());
    else if (number === 4) values.push(readValue(reader.part()));
    else if (number === 5) layer.extent = Math.min(Math.max(1, reader.varint()), 1 << 16);
    else return false;
    return true;
  });
  layer.name = name?.text() ?? "";
  layer.features = parts.map((part) => readFeature(part, keys, values));
  return layer;
}

function readValue(reader) {
  let value, text;
  const view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset), at = (size) => {
    if (size > reader.end - reader.at) throw new RangeError("the tile is cut");
    reader.at += size;
    return reader.at - size;
  };
  reader.fields((number) => {
    if (number === 1) text = reader.part();
    else if (number === 2) value = view.getFloat32(at(4), true);
    else if (number === 3) value = view.getFloat64(at(8), true);
    else if (number >= 4 && number <= 6) value = reader.varint();
    else if (number === 7) value = reader.varint() !== 0;
    else return false;
    return true;
  });
  return text ? text.text() : value;
}

// Kinds: 1 points, 2 lines, 3 polygons.
function readFeature(reader, keys, values) {
  const feature = { kind: 0, tags: new Map(), geometry: null };
  reader.fields((number) => {
    if (number === 2) {
      const tags = reader.part();
      while (tags.at < tags.end) {
        const key = keys[tags.varint()];
        feature.tags.set(key, values[tags.varint()]);
      }
    } else if (number === 3) feature.kind = reader.varint();
    else if (number === 4) feature.geometry = reader.part();
    else return false;
    return true;
  });
  return feature;
}

// Passes the geometry of a feature to `to` (moveTo, lineTo, closePath), scaled; `budget.points` counts down, and the rest is left out at 0.
function traceFeature({ geometry }, scale, offsetX, offsetY, to, budget) {
  if (!geometry) return;
  const reader = new WireReader(geometry.bytes, geometry.at, geometry.end), step = () => {
    const value = reader.varint();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  };
  let x = 0, y = 0;
  while (reader.at < reader.end && budget.points > 0) {
    const command = reader.varint(), kind = command % 8;
    if (kind === 7) {
      to.closePath();
      continue;
    }
    if (kind !== 1 && kind !== 2) return;
    for (let n = Math.floor(command / 8); n > 0 && budget.points > 0; n--) {
      [x, y] = [x + step(), y + step()];
      budget.points--;
      if (kind === 1) to.moveTo(x * scale - offsetX, y * scale - offsetY); else to.lineTo(x * scale - offsetX, y * scale - offsetY);
    }
  }
}

// The content of gzip data, and of all other data as they are; null above the limit.
async function unpacked(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader(), parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > mostUnpacked) {
      reader.cancel();
      return null;
    }
    parts.push(value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
