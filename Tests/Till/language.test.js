// SPDX-License-Identifier: Apache-2.0
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { bestMatch, checked, direction, languages, locale, speaker } from "../../share/till/language.js";

const folder = new URL("../../share/till/", import.meta.url);
const text = (name) => readFileSync(new URL(name, folder), "utf8");
const english = JSON.parse(text("messages/en.json"));
const files = readdirSync(new URL("messages/", folder)).sort();
const scripts = readdirSync(folder).filter((name) => name.endsWith(".js"));
const names = (message) => (message.match(/\{[a-zA-Z]+\}/g) ?? []).sort();

// What a customer reads. Everything else is the cashier's.
const customers = ["again", "approved", "approved.sum", "cancelled", "cardSaved", "checked", "chip", "declined", "failed", "held", "held.sum", "hold", "kind.deferred", "link", "notReady", "one", "other", "partial", "partial.held", "partial.refund", "pass", "pay", "pending",
  "phone", "pin", "read", "receipt", "refunded", "refunded.sum", "reversing", "reversing.refund", "sign", "staff", "stored", "stored.sum", "taken", "taken.other", "test", "thanks", "unknown", "unknown.refund",
  "wait", "welcome"];
const tradeNames = /apple|google|samsung|\bvisa\b|master ?card|maestro|amex|american express|discover|diners|jcb|unionpay|girocard|paypal|tap to pay on/i;

test("the till has five sizes of letters beside those that grow with the screen, and two weights", () => {
  const css = text("till.css"), values = (name) => [...new Set([...css.matchAll(new RegExp(`${name}: ([^;}]+)`, "g"))].map(([, value]) => value))];
  const fixed = values("font-size").filter((value) => !value.startsWith("clamp("));
  const own = [...css.matchAll(/\.sign \{ font-size: ([^;}]+)/g)].map(([, value]) => value);
  assert.deepEqual(fixed.filter((value) => !own.includes(value) || value === "18px").sort(), ["1.15em", "1.35em", "1.6em", "18px", "1em"].sort());
  assert.match(css, /font: 20px\/1\.35 /);
  for (const name of ["till.css", "display.css"]) for (const [, weight] of text(name).matchAll(/font-weight: ([0-9]+)/g)) assert.match(weight, /^(400|700)$/, name);
});

test("the page says of each language whether a speaker has read it, as the settings do", () => {
  const page = readFileSync(new URL("../../docs/shop/browser-till.md", import.meta.url), "utf8").split("### Languages")[1];
  const names = new Intl.DisplayNames("en", { type: "language" }), row = (what) => page.match(new RegExp(`^\\| ([A-Z].*) \\| .*${what}`, "m"))[1];
  const said = (tags) => tags.map((tag) => names.of(tag)).sort().join(", ");
  assert.equal(row("the project keeps them").split(", ").sort().join(", "), said(checked));
  assert.equal(row("nobody yet"), said(Object.keys(languages).filter((tag) => !checked.includes(tag))));
});

test("the page's words for a shop are those of the till", () => {
  const page = readFileSync(new URL("../../docs/shop/browser-till.md", import.meta.url), "utf8");
  const day = page.split("### The day\n")[1].split("\n### ")[0], words = [...day.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word]) => word);
  assert.ok(words.length >= 9);
  assert.deepEqual(words.filter((word) => !Object.values(english).includes(word)), []);
});

test("there is a file for each language that is offered, and no other", () => {
  assert.deepEqual(files, Object.keys(languages).sort().map((one) => `${one}.json`));
});

for (const file of files) {
  const messages = JSON.parse(text(`messages/${file}`));
  test(`${file} has the keys and placeholders of English`, () => {
    assert.deepEqual(Object.keys(messages).sort(), Object.keys(english).sort());
    for (const [key, message] of Object.entries(messages)) assert.deepEqual(names(message), names(english[key]), key);
  });

  test(`${file} is sorted, composed and free of exclamation marks and trade names`, () => {
    assert.deepEqual(Object.keys(messages), Object.keys(messages).sort());
    for (const [key, message] of Object.entries(messages)) {
      assert.equal(message, message.normalize("NFC"), key);
      assert.ok(message.trim() === message && message.length > 0, key);
      assert.doesNotMatch(message, /[!！¡]/, key);
      assert.doesNotMatch(message, tradeNames, key);
    }
  });

  test(`${file} keeps each of the customer's sentences to sixty characters, and each error to 128`, () => {
    for (const key of customers) assert.ok([...messages[key]].length <= 60, `${key}: ${[...messages[key]].length}`);
    for (const [key, message] of Object.entries(messages)) {
      if (!key.startsWith("entry.")) continue;
      assert.ok([...message].length <= 128, key);
      assert.doesNotMatch(message, /[.。]$/, key);
    }
  });

  // Somebody who reads one word from across the counter must not read that money came.
  test(`${file} has the word of an approval for nothing that is none`, () => {
    const word = messages.approved.toLocaleLowerCase();
    for (const key of ["wait", "read", "declined", "unknown", "reversing", "stored", "cancelled", "failed", "till.starting", "till.authorising", "till.stored",
      "till.unknown", "till.reversing", "till.reversed", "till.stopping", "till.refused", "refunded", "held", "held.sum", "checked", "cardSaved", "partial.held",
      "partial.refund", "unknown.refund", "reversing.refund", "stored.sum", "till.unknown.refund", "till.reversing.refund", "till.reversed.refund"]) {
      assert.ok(!messages[key].toLocaleLowerCase().includes(word), `${key}: ${messages[key]}`);
    }
  });

  test(`${file} calls things in the tutorial what the till calls them`, () => {
    for (const [part, keys] of [["pay", ["till.continue", "approved"]], ["ends", ["declined", "till.stored"]], ["refund", ["till.refund", "day.title"]]]) {
      const text = messages[`learn.${part}`];
      for (const key of keys) assert.ok(text.includes(messages[key]), `learn.${part}: ${messages[key]}`);
    }
    assert.ok(messages["learn.ends"].includes(messages["till.unknown"].split(/[.。]/)[0]), "learn.ends: till.unknown");
  });
}

// EMV asks for what is done with a card; a read without an amount asks for no payment.
test("labels of reads without a payment say nothing of paying", () => {
  for (const key of ["till.lookUp", "till.saveCard", "till.verify", "till.passes", "till.refund", "pass"]) assert.doesNotMatch(english[key], /pay\b|payment|tap to/i, key);
  assert.doesNotMatch(english["till.passes"], /pay|tap/i);
});

test("each text that a page asks for is there", () => {
  for (const name of scripts) {
    for (const [, key] of text(name).matchAll(/say\("([a-zA-Z.]+)"/g)) assert.ok(key in english, `${name}: ${key}`);
    for (const [, key] of text(name).matchAll(/"((?:till|set|pair|learn|display|entry|next|kind|every|status|terms|reason|lane|day|word|open|tap)\.[a-zA-Z]+)"/g)) {
      assert.ok(key in english || ["lane.unknown"].includes(key) || /^terms\.(not_accepted|revoked)$/.test(key), `${name}: ${key}`);
    }
  }
});

test("each reason and each next step of the contract has words", () => {
  const contract = readFileSync(new URL("../../docs/openapi.yaml", import.meta.url), "utf8");
  const reasons = /reason:\n\s+type: string\n\s+enum:\n((?:\s+- \w+\n)+)/.exec(contract)[1].match(/\w+/g);
  assert.ok(reasons.length >= 19);
  for (const reason of reasons) assert.ok(`reason.${reason}` in english, reason);
  for (const [schema, prefix] of [["NextStep", "next"], ["Canceller", "by"], ["TermsState", "terms"]]) {
    const words = new RegExp(`    ${schema}:[^\\[]*enum: \\[([^\\]]+)\\]`).exec(contract)[1].split(", ");
    for (const word of words) assert.ok(`${prefix}.${word}` in english, `${prefix}.${word}`);
  }
  for (const state of /name: \{ type: string \}\n\s+state: \{ type: string, enum: \[([^\]]+)\]/.exec(contract)[1].split(", ")) assert.ok(`lane.${state}` in english, state);
});

test("the best match is the exact tag, then the language, then English", () => {
  assert.equal(bestMatch(["de-AT"]), "de");
  assert.equal(bestMatch(["xx", "fr-CH", "de"]), "fr");
  assert.equal(bestMatch(["pt-BR"], ["en", "pt", "pt-BR"]), "pt-BR");
  assert.equal(bestMatch(["zh-Hant-TW"]), "en");
  assert.equal(bestMatch([]), "en");
  assert.equal(locale("de", "de-CH"), "de-CH");
  assert.equal(locale("de", "fr-FR"), "de");
  assert.equal(direction("ar-EG"), "rtl");
  assert.equal(direction("ja"), "ltr");
});

test("a missing text is English, and is reported once", () => {
  const gaps = [];
  const say = speaker("xx", { hold: "Hier" }, english, (gap) => gaps.push(gap));
  assert.equal(say("hold"), "Hier");
  assert.equal(say("thanks"), english.thanks);
  say("thanks");
  assert.equal(gaps.length, 1);
  assert.equal(say("pay", { merchant: "{open}" }), "Pay {open}");
  assert.equal(say("partial", { paid: "€1" }), "€1 paid. {open} still to pay");
});

// What the pages' policy would refuse, and what must not be on any of them.
test("no page reads HTML from a string, carries a script or a style of its own, or has a field for a PIN", () => {
  for (const name of readdirSync(folder).filter((one) => /\.(js|html)$/.test(one))) {
    const source = text(name);
    assert.doesNotMatch(source, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|type: "password"|type="password"/, name);
    assert.doesNotMatch(source, /\sstyle=|style: "(?!currency|percent|unit)|<style|\son[a-z]+="|<script(?![^>]*\ssrc=)/, name);
  }
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".css"))) {
    assert.doesNotMatch(text(name), /(?:margin|padding|border|inset)-(?:left|right)|\b(?:left|right):|text-align: (?:left|right)|url\(/, name);
  }
});
