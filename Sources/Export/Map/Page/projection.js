// How places become points of the map, from 0 to 1: Web Mercator, whose left and right edges are the same line, the antimeridian; or, where
// Mercator ends, a plane around a pole.
const earth = 40075016.686;
const endOfMercator = 85.05;

class Mercator {
  constructor() { [this.wraps, this.crs] = [true, L.CRS.EPSG3857]; }

  x(longitude) { return longitude / 360 + 0.5; }

  y(latitude) { return 0.5 - Math.log(Math.tan(Math.PI / 4 + this.radians(latitude) / 2)) / (2 * Math.PI); }

  project(latitude, longitude) { return [this.x(longitude), this.y(latitude)]; }

  place(x, y) { return L.latLng(Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI, (x - 0.5) * 360); }

  // The length of a metre on the map.
  metre(latitude) { return 1 / (earth * Math.cos(this.radians(latitude))); }

  radians(latitude) { return Math.max(-endOfMercator, Math.min(endOfMercator, latitude)) * Math.PI / 180; }
}

// Azimuthal equidistant: true to scale along the meridians, and within 0.2 % across them beyond 84 degrees. From the pole, Greenwich is down
// in the north and up in the south.
class Polar {
  constructor(isNorth) {
    [this.wraps, this.sign] = [false, isNorth ? 1 : -1];
    this.crs = L.extend({}, L.CRS.Earth, {
      code: "polar", wrapLng: undefined, transformation: new L.Transformation(1, 0, 1, 0),
      projection: {
        bounds: L.bounds([0, 0], [1, 1]), project: ({ lat, lng }) => L.point(...this.project(lat, lng)), unproject: ({ x, y }) => this.place(x, y),
      },
    });
  }

  project(latitude, longitude) {
    const reach = (90 - this.sign * latitude) / 360, angle = longitude * Math.PI / 180;
    return [0.5 + reach * Math.sin(angle), 0.5 + this.sign * reach * Math.cos(angle)];
  }

  place(x, y) {
    const [east, down] = [x - 0.5, this.sign * (y - 0.5)];
    return L.latLng(this.sign * (90 - Math.hypot(east, down) * 360), Math.atan2(east, down) * 180 / Math.PI);
  }

  metre() { return 1 / earth; }
}

// The projection that shows places of these latitudes, as near to the poles as they are.
function projectionFor(latitudes) {
  const far = latitudes.find((latitude) => Math.abs(latitude) > endOfMercator);
  return far === undefined ? null : new Polar(far > 0);
}

// A rectangle around points of the map. Where the map wraps, it lies across the antimeridian if that is how the points follow each other.
class MapBox {
  constructor(wraps) {
    this.wraps = wraps;
    [this.west, this.east, this.top, this.bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  }

  get isEmpty() { return this.west > this.east; }

  add(x, y) {
    if (this.wraps && !this.isEmpty) x -= Math.round(x - this.middle);
    this.middle ??= x;
    [this.west, this.east] = [Math.min(this.west, x), Math.max(this.east, x)];
    [this.top, this.bottom] = [Math.min(this.top, y), Math.max(this.bottom, y)];
  }
}
