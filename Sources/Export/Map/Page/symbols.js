// What stands for a thing on map, time line and page: fences are round, speed tests square.
const neutral = "#ffffff";
const outline = "#16212b";

// The marks within a square: what became of the test. Coordinates from -1 to 1; a single point is a dot.
const squareMarks = {
  completed: [],
  failed: [[[-0.55, -0.55], [0.55, 0.55]], [[-0.55, 0.55], [0.55, -0.55]]],
  aborted: [[[-0.6, 0], [0.6, 0]]],
  running: [[[0, 0]]],
};

function squareFill(look, colour) { return look === "completed" ? colour : neutral; }

function squareInk(look) { return look === "failed" ? "#c2281d" : outline; }

// A square, or a bar that reaches `wide` pixels to the right. A light and a dark line round it stand out on every ground.
function drawSquare(context, x, y, half, look, colour, wide = 0) {
  const layers = [[half + 2.5, outline], [half + 1.5, neutral], [half, squareFill(look, colour)]];
  for (const [reach, fill] of layers) {
    context.fillStyle = fill;
    context.fillRect(x - reach, y - reach, wide + reach * 2, reach * 2);
  }
  context.strokeStyle = context.fillStyle = squareInk(look);
  context.lineWidth = Math.max(1.5, half / 3.5);
  for (const [from, to] of squareMarks[look]) {
    context.beginPath();
    if (to) {
      context.moveTo(x + wide / 2 + from[0] * half, y + from[1] * half);
      context.lineTo(x + wide / 2 + to[0] * half, y + to[1] * half);
      context.stroke();
    } else {
      context.arc(x + wide / 2, y, half / 2.5, 0, 7);
      context.fill();
    }
  }
}

// Icons are SVG: colours in style attributes are what the page's policy forbids.
function icon(...shapes) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 10 10");
  svg.setAttribute("aria-hidden", "true");
  for (const [kind, attributes] of shapes) {
    const shape = document.createElementNS(space, kind);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
    svg.append(shape);
  }
  return svg;
}

// The sign of a fence in its look (fence_table.js).
function dot(colour, look = "full") {
  if (look === "full") return icon(["circle", { cx: 5, cy: 5, r: 4.4, fill: colour, stroke: mixed(colour, "#000000", 0.4) }]);
  const dashes = look === "wifi" ? { "stroke-width": 1.8, "stroke-dasharray": "2.2 1.4" } : { "stroke-width": 1.2 };
  return icon(["circle", { cx: 5, cy: 5, r: 4, fill: "none", stroke: colour, ...dashes }]);
}

function square(look, colour) {
  const ink = squareInk(look), at = (part) => 5 + part * 3.4;
  const marks = squareMarks[look].map(([from, to]) => to
    ? ["line", { x1: at(from[0]), y1: at(from[1]), x2: at(to[0]), y2: at(to[1]), stroke: ink, "stroke-width": 1.4 }]
    : ["circle", { cx: 5, cy: 5, r: 1.6, fill: ink }]);
  const frame = { x: 0.5, y: 0.5, width: 9, height: 9, fill: outline }, light = { x: 1.2, y: 1.2, width: 7.6, height: 7.6, fill: neutral };
  return icon(["rect", frame], ["rect", light], ["rect", { x: 1.9, y: 1.9, width: 6.2, height: 6.2, fill: squareFill(look, colour) }], ...marks);
}
