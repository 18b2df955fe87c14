"use strict";
// Reads PMTiles 3 (github.com/protomaps/PMTiles, spec/v3) from memory.

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return gunzip(bytes);
}

async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Tiles {
  constructor(bytes) {
    this.bytes = bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const at = place => Number(view.getBigUint64(place, true));
    [this.root, this.rootSize, this.leaves, this.content] = [at(8), at(16), at(40), at(56)];
    [this.directoriesZipped, this.tilesZipped] = [bytes[97] === 2, bytes[98] === 2];
    this.directories = new Map();
  }

  async directory(offset, size) {
    if (!this.directories.has(offset)) {
      const part = this.bytes.subarray(offset, offset + size);
      this.directories.set(offset, Tiles.entries(this.directoriesZipped ? await gunzip(part) : part));
    }
    return this.directories.get(offset);
  }

  static entries(bytes) {
    let place = 0;
    const number = () => {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[place++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      return value;
    };
    const found = Array.from({ length: number() }, () => ({}));
    let id = 0;
    for (const entry of found) entry.id = id += number();
    for (const entry of found) entry.run = number();
    for (const entry of found) entry.size = number();
    found.forEach((entry, index) => {
      const value = number();
      entry.offset = value === 0 ? found[index - 1].offset + found[index - 1].size : value - 1;
    });
    return found;
  }

  // The tile's number: tiles of lower zooms, then its place along a Hilbert curve.
  static id(z, x, y) {
    let before = 0, along = 0;
    for (let zoom = 0; zoom < z; zoom++) before += 4 ** zoom;
    for (let side = 2 ** (z - 1); side >= 1; side /= 2) {
      const right = x & side ? 1 : 0, down = y & side ? 1 : 0;
      along += side * side * ((3 * right) ^ down);
      if (!down) {
        if (right) [x, y] = [side - 1 - (x & (side - 1)), side - 1 - (y & (side - 1))];
        [x, y] = [y, x];
      }
      x &= side - 1;
      y &= side - 1;
    }
    return before + along;
  }

  async tile(z, x, y) {
    const id = Tiles.id(z, x, y);
    let [offset, size] = [this.root, this.rootSize];
    for (let depth = 0; depth < 4; depth++) {
      const entry = (await this.directory(offset, size)).findLast(entry => entry.id <= id);
      if (!entry) return new Uint8Array();
      if (entry.run > 0) {
        if (id >= entry.id + entry.run) return new Uint8Array();
        const part = this.bytes.subarray(this.content + entry.offset, this.content + entry.offset + entry.size);
        return this.tilesZipped ? gunzip(part) : part.slice();
      }
      [offset, size] = [this.leaves + entry.offset, entry.size];
    }
    return new Uint8Array();
  }
}
