// SPDX-License-Identifier: Apache-2.0
// Drawings of our own: where the card goes on each kind of reader, and the two ways of a PIN. Plain shapes, no maker's, scheme's or contactless mark.

const space = "http://www.w3.org/2000/svg";

function shape(tag, attributes) {
  const node = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

const box = (x, y, width, height, kind, round = 6) => shape("rect", { x, y, width, height, rx: round, class: kind });
const dots = (places, size = 2.5) => places.map(([cx, cy]) => shape("circle", { cx, cy, r: size, class: "dot" }));
const line = (...points) => shape("polyline", { points: points.join(" "), class: "line" });

// A card held flat, and the arrow by which it comes: its middle lies over `x`.
const card = (x, y = 34) => [box(x - 29, y, 58, 36, "card", 4), box(x - 29, y + 8, 58, 7, "stripe", 0), line(x, 4, x, y - 6), line(x - 6, y - 12, x, y - 6, x + 6, y - 12)];
const body = (x = 20, width = 120) => box(x, 26, width, 76, "body", 8);
const keys = (x, y) => dots([0, 1, 2, 3].flatMap((row) => [0, 1, 2].map((column) => [x + column * 9, y + row * 9])));

// By the places that the help names: `place` of a reader.
const places = {
  top: () => [body(), ...card(80, 46)],
  lights: () => [body(), ...dots([[62, 92], [74, 92], [86, 92], [98, 92]]), ...card(80, 44)],
  behindSlot: () => [body(), box(44, 92, 72, 4, "slot", 2), ...card(80, 42)],
  besideSlot: () => [body(), box(30, 46, 4, 40, "slot", 2), ...card(94, 46)],
  besideDisplay: () => [body(), box(26, 36, 34, 24, "screen", 3), ...card(102, 46)],
  copperLoop: () => [body(), box(36, 36, 88, 58, "loop", 8), box(42, 42, 76, 46, "loop", 6), ...card(80, 47)],
  stick: () => [box(8, 50, 20, 24, "plug", 2), box(28, 40, 112, 44, "body", 8), ...card(104, 44)],
  symbol: () => [body(), box(44, 40, 72, 48, "loop", 4), ...card(80, 46)],
};
const pins = {
  device: () => [box(48, 14, 64, 92, "body", 8), box(56, 22, 48, 20, "screen", 3), ...keys(71, 58), box(66, 28, 28, 8, "stripe", 2)],
  terminal: () => [box(0, 36, 72, 60, "body", 8), ...card(36, 48).slice(0, 2), line(76, 66, 92, 66), line(86, 60, 92, 66, 86, 72),
    box(98, 18, 54, 70, "body", 8), box(105, 25, 40, 16, "screen", 3), ...keys(116, 52), box(106, 84, 38, 22, "card", 3)],
};

function drawing(shapes, text) {
  const node = shape("svg", { viewBox: "0 0 160 110", class: "drawing", role: "img", "aria-label": text });
  node.append(...shapes);
  return node;
}

// `null` for a place that has no drawing; `text` says the same in words.
export const holdingDrawing = (place, text) => (Object.hasOwn(places, place ?? "") ? drawing(places[place](), text) : null);
export const pinDrawing = (way, text) => drawing(pins[way](), text);
