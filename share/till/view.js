// SPDX-License-Identifier: Apache-2.0
// Elements from text. Nothing here or elsewhere reads HTML from a string: the page's policy refuses it.
import { direction } from "./language.js";

export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// The page in its language, before anything stands on it: also the one that asks for a code.
export function dress(say, title) {
  document.documentElement.lang = say.language;
  document.documentElement.dir = direction(say.language);
  document.title = title;
}

export const button = (text, onclick, kind = "", more = {}) => h("button", { type: "button", class: kind, onclick, ...more }, text);

// Columns of a receipt or report: a telephone shows the narrowest roll, so that no sum is beside its screen.
export const columns = () => (innerWidth < 500 ? 32 : 42);

// A receipt or report, in the direction of its own language: a customer may read another one than the till.
export function printOn(paper, { body, language }) {
  Object.assign(paper, { textContent: body, lang: language ?? "", dir: direction(language ?? "") });
}

// An amount stays in one piece in a line of another direction.
export const amountText = (text, kind = "amount") => h("bdi", { class: kind }, text);

// A sentence with its sum in it: the sum large, the words beside it.
export function sumSentence(sentence, sum) {
  const at = sentence.indexOf(sum);
  return at < 0 ? sentence : [sentence.slice(0, at), amountText(sum), sentence.slice(at + sum.length)];
}

// A sign beside the word and the colour: a shape of its own for each, so that it is told in grey as well.
export const sign = (kind) => h("span", { class: `sign ${kind}`, "aria-hidden": "true" });

// Whose cards are taken, in words: names of networks, and never their marks.
export function taken(say, networks) {
  const named = networks.filter((one) => one !== "Card"), rest = named.length < networks.length ? [say("taken.other")] : [];
  return say("taken", { networks: new Intl.ListFormat(say.locale).format([...named, ...rest]) });
}

// A line's text, with what a sum alone does not say: how often, from when, or that it is no part of the sum yet.
export function lineLabel(say, { label, kind, frequency, begins }) {
  const due = kind === "deferred" && (begins ? [say("till.due"), " ", h("bdi", {}, begins)] : label !== say("kind.deferred") && say("kind.deferred"));
  const notes = [frequency && say(`every.${frequency}`), due || begins && [say("till.begins"), " ", h("bdi", {}, begins)]].filter(Boolean);
  return h("span", { class: "label" }, label, notes.map((note) => h("small", {}, " ", note)));
}

export const field = (label, control, hint) => h("label", { class: "field" }, h("span", {}, label), control, hint && h("small", {}, hint));

export const choice = (options, chosen, onchange, more = {}) =>
  h("select", { ...more, onchange: (event) => onchange(event.target.value) },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));

export const check = (text, checked, onchange) =>
  h("label", { class: "check" }, h("input", { type: "checkbox", checked, onchange: (event) => onchange(event.target.checked) }), h("span", {}, text));

export function show(place, ...children) {
  place.replaceChildren(...children.flat(3).filter(Boolean));
}

// The region exists before its text, else nothing is spoken; the same sentence is not spoken twice.
export function speak(region, text) {
  if (region.textContent !== text) region.textContent = text;
}

export async function stayAwake() {
  const ask = () => document.visibilityState === "visible" && navigator.wakeLock?.request("screen").catch(() => {});
  document.addEventListener("visibilitychange", ask);
  await ask();
}

export function svgImage(svg, text, kind) {
  const bytes = new TextEncoder().encode(svg);
  const src = "data:image/svg+xml;base64," + btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return h("img", { class: kind, src, alt: text });
}

// Whole pixels for each module, five at least: fewer could not be read from a screen. `named`: the text stands under it, too.
export function qrCode(src, text, named = true) {
  const modules = Number(/viewBox=(?:["']|%22|%27)0(?: |%20)0(?: |%20)(\d+)/.exec(src)?.[1] ?? 41);
  const room = Math.min(innerHeight * 0.66, innerWidth * 0.44, 620);
  const size = modules * Math.max(5, Math.floor(room / modules));
  return h("div", { class: "qr-box" }, h("img", { class: "qr", src, width: size, height: size, alt: text }), named && h("p", {}, text));
}
