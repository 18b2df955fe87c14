// The tracks of the drives: the positions of the logs, a thin line. A page without logs, such as the live one, joins the
// centres of the fences.
class Tracks {
  constructor(state) { [this.state, this.segments] = [state, []]; }

  // A segment has the differences of its places, in millionths of a degree.
  add({ session, link, points }) {
    const count = points.length / 2, places = new Float64Array(count * 2);
    let [latitude, longitude] = [0, 0];
    for (let i = 0; i < count; i++) {
      [latitude, longitude] = [latitude + points[2 * i], longitude + points[2 * i + 1]];
      [places[2 * i], places[2 * i + 1]] = [latitude / 1e6, longitude / 1e6];
    }
    this.segments.push({ session, link: link ?? "", places, x: new Float64Array(count), y: new Float64Array(count) });
    this.place(this.segments[this.segments.length - 1]);
  }

  placeAll() { for (const segment of this.segments) this.place(segment); }

  // Each place is the copy next to the one before.
  place(segment) {
    const { projection } = this.state, { places, x, y } = segment, box = new MapBox(projection.wraps);
    for (let i = 0; i < x.length; i++) {
      [x[i], y[i]] = projection.project(places[2 * i], places[2 * i + 1]);
      if (projection.wraps && i > 0) x[i] -= Math.round(x[i] - x[i - 1]);
      box.add(x[i], y[i]);
    }
    segment.box = box;
  }

  draw(context, { scale, pixelX, pixelY }, size) {
    const { onlyLink, table, style } = this.state;
    context.beginPath();
    for (const { link, x, y, box } of this.segments) {
      if (onlyLink >= 0 && table.links[onlyLink] !== link) continue;
      // The copy of the whole segment next to the view.
      const left = pixelX(box.middle) - box.middle * scale, at = (i) => [left + x[i] * scale, pixelY(y[i])];
      if (left + box.east * scale < 0 || left + box.west * scale > size.x || pixelY(box.bottom) < 0 || pixelY(box.top) > size.y) continue;
      let [lastX, lastY] = at(0);
      context.moveTo(lastX, lastY);
      for (let i = 1; i < x.length; i++) {
        const [toX, toY] = at(i);
        // Nearer than a pixel is the same.
        if (i < x.length - 1 && Math.abs(toX - lastX) + Math.abs(toY - lastY) < 1.5) continue;
        context.lineTo(toX, toY);
        [lastX, lastY] = [toX, toY];
      }
    }
    // As a line, the fences are joined already.
    if (!this.segments.length && !this.state.layer.isLine) this.joinFences(context, pixelX, pixelY, scale);
    context.lineJoin = context.lineCap = "round";
    context.lineWidth = 1.6;
    context.strokeStyle = style.track;
    context.stroke();
  }

  joinFences(context, pixelX, pixelY, scale) {
    const { table, projection, layer } = this.state;
    for (let i = 1; i < table.count; i++) {
      if (!table.joined[i] || !(layer.inView[i] || layer.inView[i - 1]) || !this.state.isShown(i)) continue;
      const x = pixelX(table.x[i]), before = pixelX(table.x[i - 1]);
      context.moveTo(before - (projection.wraps ? Math.round((before - x) / scale) * scale : 0), pixelY(table.y[i - 1]));
      context.lineTo(x, pixelY(table.y[i]));
    }
  }
}
