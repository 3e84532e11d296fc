// SPDX-License-Identifier: Apache-2.0
// Writes javascript-sums.jsonl: `node javascript-sums.js > javascript-sums.jsonl`. Each line is a sum as a page's own arithmetic
// writes it, and the minor units that it means.
let state = 20261128;
const random = (below) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state % below;
};
const source = `Node.js ${process.version}`;
const tell = (form, decimals, minor, sum) =>
  console.log(JSON.stringify({ form, decimals, minor, text: JSON.stringify(sum), source, licence: "own" }));
const unit = { 0: 1, 2: 0.01, 3: 0.001 };
const count = { 0: 1, 2: 100, 3: 1000 };

for (const decimals of [2, 3, 0]) {
  for (let line = 0; line < 40; line += 1) {
    const minor = 1 + random(200000);
    tell("multiplied", decimals, minor, minor * unit[decimals]);
    tell("divided", decimals, minor, minor / count[decimals]);
  }
}
for (let line = 0; line < 60; line += 1) {
  let [minor, sum] = [0, 0];
  for (let item = random(40); item >= 0; item -= 1) {
    const [price, pieces] = [1 + random(2000), 1 + random(9)];
    minor += price * pieces;
    sum += (price / 100) * pieces;
  }
  tell("items", 2, minor, sum);
  const paid = 1 + random(minor);
  if (paid < minor) tell("rest", 2, minor - paid, sum - paid * 0.01);
}
for (let line = 0; line < 20; line += 1) {
  const minor = 100000000000 + random(4294967295) * 100 + random(100);
  tell("large", 2, minor, minor * 0.01);
}
