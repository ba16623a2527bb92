"use strict";
// Draws one of the precomputed classifiers, z = M x + b, in the space of standardised
// features.  All values but the worst case are computed from (M, b) and the rows.
const data = JSON.parse(document.getElementById("explore-data").textContent);
const byId = (id) => document.getElementById(id);
const WIDTH = 640, HEIGHT = 480, LEFT = 66, BOTTOM = 56, TOP = 10, RIGHT = 10;
const [low, high] = data.window;
const COLOURS = 6;

// Each class has its own marker, because some readers cannot tell the colours apart.
const SHAPES = [
  (r) => `M${r} 0A${r} ${r} 0 1 1 ${-r} 0A${r} ${r} 0 1 1 ${r} 0Z`,
  (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  (r) => `M0 ${-1.3 * r}L${1.2 * r} ${0.9 * r}H${-1.2 * r}Z`,
  (r) => `M0 ${-1.4 * r}L${1.2 * r} 0L0 ${1.4 * r}L${-1.2 * r} 0Z`,
  (r) => `M0 ${1.3 * r}L${1.2 * r} ${-0.9 * r}H${-1.2 * r}Z`,
  (r) => star(r, 5),
  (r) => star(r, 4),
];

function star(r, tips) {
  const corner = (i) => {
    const size = i % 2 ? 0.6 * r : 1.5 * r, angle = (Math.PI * i) / tips;
    return `${size * Math.sin(angle)} ${-size * Math.cos(angle)}`;
  };
  return `M${Array.from({ length: 2 * tips }, (_, i) => corner(i)).join("L")}Z`;
}

const shape = (code, r) => SHAPES[code % SHAPES.length](r);
const colour = (code) => `k${code % COLOURS}`;
const toX = (x) => LEFT + ((x - low[0]) / (high[0] - low[0])) * (WIDTH - LEFT - RIGHT);
const toY = (y) => HEIGHT - BOTTOM - ((y - low[1]) / (high[1] - low[1])) * (HEIGHT - BOTTOM - TOP);
const number = (x) => (x === 0 ? "0" : Number(x.toPrecision(3)).toString());
const percent = (x) => `${Number((100 * x).toFixed(1))} %`;
// A promise is rounded up; the inner rounding removes noise of the last digits.
const atMost = (x) => `at most ${Math.ceil(Number((1000 * x).toFixed(6))) / 10} %`;
const cost = (x) => (x === null ? "infinite, labels are trusted" : number(x));

function element(kind, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const marker = (x, y, code, r, kind) => element("path", {
  d: shape(code, r), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
  class: `${colour(code)} ${kind}`,
});

const scores = (model, x) => model.M.map((row, k) => row[0] * x[0] + row[1] * x[1] + model.b[k]);
const largest = (values) => values.indexOf(Math.max(...values));

// Crammer-Singer: max_j (z_j + [j != c]) - z_c.
function loss(z, c) {
  return Math.max(...z.map((value, j) => value + (j === c ? 0 : 1))) - z[c];
}

// Where class k has the largest score: the window, cut by one line for each other class.
function region(model, k) {
  let corners = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]];
  model.M.forEach((row, j) => {
    if (j === k) return;
    const lead = (x) => (model.M[k][0] - row[0]) * x[0] + (model.M[k][1] - row[1]) * x[1]
      + model.b[k] - model.b[j];
    corners = cut(corners, lead);
  });
  return corners;
}

function cut(corners, lead) {
  const kept = [];
  corners.forEach((here, i) => {
    const next = corners[(i + 1) % corners.length], a = lead(here), b = lead(next);
    if (a >= 0) kept.push(here);
    if ((a >= 0) !== (b >= 0)) {
      const t = a / (a - b);
      kept.push([here[0] + t * (next[0] - here[0]), here[1] + t * (next[1] - here[1])]);
    }
  });
  return kept;
}

function area(corners) {
  return Math.abs(corners.reduce((sum, [x, y], i) => {
    const [u, v] = corners[(i + 1) % corners.length];
    return sum + x * v - u * y;
  }, 0)) / 2;
}

function judged(model) {
  let right = 0, total = 0;
  data.X.forEach((x, n) => {
    const z = scores(model, x);
    right += largest(z) === data.y[n];
    total += loss(z, data.y[n]);
  });
  return { accuracy: right / data.X.length, risk: total / data.X.length };
}

function drawPlane(model) {
  const plane = byId("plane");
  plane.querySelectorAll(".drawn").forEach((old) => old.remove());
  const layer = element("g", { class: "drawn" });
  const whole = (high[0] - low[0]) * (high[1] - low[1]);
  const shown = [];
  model.M.forEach((_, k) => {
    const corners = region(model, k);
    if (corners.length < 3 || area(corners) < 1e-4 * whole) return;
    shown.push(k);
    const points = corners.map(([x, y]) => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`);
    layer.append(element("polygon", { points: points.join(" "), class: `${colour(k)} region` }));
  });
  data.X.forEach((x, n) => layer.append(marker(toX(x[0]), toY(x[1]), data.y[n], 4, "point")));
  if (byId("worst").checked) drawWorstCase(layer, model);
  plane.append(layer);
  return shown;
}

function drawWorstCase(layer, model) {
  model.flips.forEach(([n, label, share]) => {
    const [x, y] = data.X[n];
    layer.append(marker(toX(x), toY(y), label, 5 + 4 * Math.sqrt(share), "flip"));
  });
  model.moves.forEach(([n, x, y, label]) => {
    const [from, to] = [data.X[n], within(data.X[n], [x, y])];
    const ends = { x1: toX(from[0]), y1: toY(from[1]), x2: toX(to[0]), y2: toY(to[1]) };
    layer.append(element("line", { ...ends, class: "move", "marker-end": "url(#head)" }));
    layer.append(marker(ends.x1, ends.y1, label, 6, "flip"));
  });
}

// The end of a move, or where it leaves the window.
function within(from, to) {
  let share = 1;
  [0, 1].forEach((d) => {
    const step = to[d] - from[d];
    if (step > 0) share = Math.min(share, (high[d] - from[d]) / step);
    if (step < 0) share = Math.min(share, (low[d] - from[d]) / step);
  });
  return [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
}

function drawAxes() {
  const plane = byId("plane");
  const box = { x: LEFT, y: TOP, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BOTTOM };
  plane.append(element("rect", { ...box, class: "frame" }));
  ticks(0).forEach(([at, text]) => plane.append(element("text", {
    x: toX(at), y: HEIGHT - BOTTOM + 20, "text-anchor": "middle",
  }, text)));
  ticks(1).forEach(([at, text]) => plane.append(element("text", {
    x: LEFT - 6, y: toY(at) + 4, "text-anchor": "end",
  }, text)));
  plane.append(element("text", { x: LEFT + box.width / 2, y: HEIGHT - 6, "text-anchor": "middle" }, data.names[0]));
  const middle = TOP + box.height / 2;
  plane.append(element("text", {
    x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})`,
  }, data.names[1]));
}

// Round numbers in the units of the table, and where they lie in standardised ones.
function ticks(d) {
  const raw = (x) => data.centre[d] + x * data.scale[d];
  const [from, to] = [raw(low[d]), raw(high[d])];
  const power = 10 ** Math.floor(Math.log10((to - from) / 4));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => (to - from) / k <= 7);
  const marks = [];
  for (let k = Math.ceil(from / step); k * step <= to; k += 1) {
    marks.push([(k * step - data.centre[d]) / data.scale[d], Number((k * step).toPrecision(10)).toString()]);
  }
  return marks;
}

function drawCurves(r, k) {
  const chart = byId("curves"), [wide, tall, left, bottom] = [400, 200, 52, 44];
  chart.replaceChildren();
  const column = data.models.map((row) => row[k]);
  const logs = data.radii.map(Math.log);
  const wrong = column.map((model) => 1 - judged(model).accuracy);
  const worst = column.map((model) => model.worst);
  const top = Math.min(1, Math.max(...worst, ...data.logisticWorst, 0.1));
  const span = logs[logs.length - 1] - logs[0] || 1;
  const x = (i) => left + ((logs[i] - logs[0]) / span) * (wide - left - 8);
  const y = (value) => tall - bottom - (value / top) * (tall - bottom - 10);
  const line = (values) => values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  chart.append(element("polyline", { points: line(wrong), class: "curve nominal" }));
  chart.append(element("polyline", { points: line(data.logisticWorst), class: "curve rival" }));
  chart.append(element("polyline", { points: line(worst), class: "curve" }));
  chart.append(element("line", { x1: x(r), x2: x(r), y1: 6, y2: tall - bottom, class: "now" }));
  chart.append(element("circle", { cx: x(r), cy: y(worst[r]), r: 4, class: "now" }));
  chart.append(element("path", { d: `M${left} 6V${tall - bottom}H${wide - 8}`, class: "frame" }));
  [0, top].forEach((value) => chart.append(element("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, percent(value))));
  chart.append(element("text", { x: left, y: tall - bottom + 18 }, number(data.radii[0])));
  chart.append(element("text", { x: wide - 8, y: tall - bottom + 18, "text-anchor": "end" }, number(data.radii[logs.length - 1])));
  chart.append(element("text", { x: (left + wide) / 2, y: tall - 4, "text-anchor": "middle" }, "radius"));
}

function fillLegend() {
  data.classes.forEach((name, code) => {
    const item = document.createElement("li");
    const picture = element("svg", { viewBox: "-8 -8 16 16", "aria-hidden": "true" });
    picture.append(marker(0, 0, code, 5, "point"));
    item.append(picture, name);
    byId("legend").append(item);
  });
}

const words = (values) => values.map((code) => data.classes[code]).join(", ");

function flipped(model) {
  const counts = new Map();
  model.flips.forEach(([n, label, share]) => {
    const pair = `${data.classes[data.y[n]]} to ${data.classes[label]}`;
    const [rows, mass] = counts.get(pair) || [0, 0];
    counts.set(pair, [rows + 1, mass + share / data.X.length]);
  });
  return [...counts].map(([pair, [rows, mass]]) => [pair, rows, mass]);
}

function promise(r, model, values) {
  const [code, error] = model.suffers;
  const rows = data.X.length === 1 ? "row" : "rows";
  return `Of these ${data.X.length} ${rows} ${values.wrong} are classified wrongly. If the rows `
    + `move by ${number(data.radii[r])} standard deviations on average, ${values["at-most"]} are; `
    + `within one class ${atMost(error)} (class ${data.classes[code]} suffers most). `
    + `Always answering ${data.largest}, the largest class: ${percent(data.constantError)}, moved or not. `
    + `LogisticRegression on the same rows: ${values.logistic}.`;
}

function tell(r, k, model, shown) {
  const found = judged(model), changes = flipped(model);
  const mass = changes.reduce((sum, change) => sum + change[2], 0);
  const moved = model.moves.reduce((sum, move) => sum + move[4], 0);
  const values = {
    "certified": model.objective.toFixed(4), "training": found.risk.toFixed(4),
    "wrong": percent(1 - found.accuracy), "at-most": atMost(model.worst),
    "logistic": `${percent(data.logisticError)}, ${atMost(data.logisticWorst[r])}`,
    "flipped": percent(mass), "moved": percent(moved),
    "spent": number(model.spent), "attained": model.attained.toFixed(4),
  };
  Object.entries(values).forEach(([name, value]) => { byId(name).textContent = value; });
  const rows = changes.map(([pair, count, share]) => {
    const line = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.textContent = pair;
    line.append(name);
    [count, percent(share)].forEach((value) => {
      const cell = document.createElement("td");
      cell.className = "number";
      cell.textContent = value;
      line.append(cell);
    });
    return line;
  });
  byId("flips").replaceChildren(...rows);
  byId("changes").hidden = rows.length === 0;
  const where = model.constant ? "No classifier promises more than a constant one here; "
    + "shown is the direction in which the scores still lean."
    : shown.length > 1 ? `Classes predicted in this window: ${words(shown)}.`
    : `The most robust classifier is constant here: it predicts ${words(shown)} everywhere.`;
  byId("status").textContent = `${promise(r, model, values)} Radius ${number(data.radii[r])}, `
    + `label cost ${cost(data.labelCosts[k])}: certified worst-case risk ${values.certified}, `
    + `training risk ${values.training}; the adversary changes ${values.flipped} of the labels `
    + `and moves ${values.moved} of the points. ${where}`;
}

function update() {
  const r = Number(byId("radius").value), k = Number(byId("label-cost").value);
  const model = data.models[r][k];
  const texts = { "radius": number(data.radii[r]), "label-cost": cost(data.labelCosts[k]) };
  Object.entries(texts).forEach(([id, text]) => {
    byId(`${id}-shown`).textContent = text;
    byId(id).setAttribute("aria-valuetext", text);
  });
  const shown = drawPlane(model);
  drawCurves(r, k);
  tell(r, k, model, shown);
}

drawAxes();
fillLegend();
["radius", "label-cost", "worst"].forEach((id) => byId(id).addEventListener("input", update));
update();
