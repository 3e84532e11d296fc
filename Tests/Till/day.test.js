// SPDX-License-Identifier: Apache-2.0
// The shop's books at the till: words, acts and questions, and what is sent where answers are lost.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { acts, addressOf, demandOf, lastFour, merged, questions, sums, tapBars, todoKey, todoOf, totalsOf, wordsOf } from "../../share/till/ledger.js";
import { found, mayStop, namesSale, request, step } from "../../share/till/sale.js";
import { Book } from "../../share/till/book.js";
import { Lost, Refused } from "../../share/till/gateway.js";

const messages = (language) => JSON.parse(readFileSync(new URL(`../../share/till/messages/${language}.json`, import.meta.url), "utf8"));
const account = (changes) => ({ currency: "EUR", capture: "automatic", state: "captured", authorised: 4500, captured: 0, released: 0, refunded: 0, pendingCapture: 0, pendingRefund: 0,
  remaining: 0, capturableUpTo: 0, refundable: 0, ...changes });
const sale = (changes, more = {}) => ({ id: "t1", number: 42, type: "purchase", state: "approved", amount: { value: 4500, currency: "EUR" }, result: { outcome: "approved" }, account: account(changes), ...more });
const held = { capture: "manual", state: "open", remaining: 4500, capturableUpTo: 4500 };

test("D7: the till's words are those of docs/shop/money.md, in English and German", () => {
  const page = readFileSync(new URL("../../docs/shop/money.md", import.meta.url), "utf8");
  const names = ["captured", "held", "released", "refunded", "reversed", "open"];
  const german = /German reports say ([^\n]+)\./.exec(page)[1].match(/\*([^*]+)\*/g).map((one) => one.slice(1, -1));
  for (const [place, name] of names.entries()) {
    assert.ok(page.includes(`| ${name} |`), name);
    assert.equal(messages("en")[`word.${name}`].toLowerCase(), name);
    assert.equal(messages("de")[`word.${name}`].toLowerCase(), german[place]);
  }
});

test("D7: each kind of what is open has words of what to do, and open is what money.md calls so", () => {
  const contract = readFileSync(new URL("../../docs/openapi.yaml", import.meta.url), "utf8");
  const kinds = /OpenEntry:[\s\S]*?enum: \[([^\]]+)\]/.exec(contract)[1].split(", ");
  assert.ok(kinds.length >= 13);
  const page = readFileSync(new URL("../../docs/shop/money.md", import.meta.url), "utf8");
  for (const kind of kinds) {
    assert.ok(todoKey(kind) in messages("en"), kind);
    assert.ok(page.includes(`\`${kind}\``), kind);
  }
  assert.equal(todoKey("figuresDiffer"), "open.person");
  for (const state of ["sent", "unknown", "reversing", "stored", "delivered"]) {
    assert.deepEqual(wordsOf({ ...sale({}), state, result: undefined, account: undefined }), ["word.open"], state);
    assert.ok(todoOf({ type: "purchase", state }) in messages("en"), state);
  }
  assert.equal(todoOf({ type: "link", state: "sent" }), "till.linkOpen");
  assert.equal(todoOf({ type: "purchase", state: "armed" }), null);
});

test("D7: a sale is called what became of its money", () => {
  assert.deepEqual(wordsOf(sale({ captured: 4500, refundable: 4500 })), ["word.captured"]);
  assert.deepEqual(wordsOf(sale(held)), ["word.held"]);
  assert.deepEqual(wordsOf(sale({ ...held, state: "captured", remaining: 0, captured: 4000, released: 500 })), ["word.captured", "word.released"]);
  assert.deepEqual(wordsOf(sale({ captured: 4500, refunded: 500 })), ["word.captured", "word.refunded"]);
  assert.deepEqual(wordsOf(sale({ state: "reversed" })), ["word.reversed"]);
  assert.deepEqual(wordsOf(sale({}, { state: "reversed", result: undefined })), ["word.reversed"]);
  assert.deepEqual(wordsOf({ id: "t2", type: "refund", state: "approved", amount: { value: 500, currency: "EUR" }, result: { outcome: "approved" } }), ["word.refunded"]);
  assert.deepEqual(wordsOf({ id: "t3", type: "purchase", state: "declined", amount: { value: 500, currency: "EUR" } }), ["declined"]);
  assert.deepEqual(wordsOf({ id: "t4", type: "verification", state: "approved", result: { outcome: "approved" } }), ["checked"]);
  assert.deepEqual(sums(sale({ captured: 4500, refunded: 500 })), [{ word: "word.captured", value: 4500 }, { word: "word.refunded", value: 500 }]);
});

test("D7: a button is never grey: each act says what is missing for it", () => {
  const missing = (one, types = ["purchase", "refund"]) => Object.fromEntries(acts(one, types).map(({ name, missing }) => [name, missing]));
  assert.deepEqual(missing(sale(held)), { capture: null, adjust: null, release: null, refund: "day.nothingCaptured", reverse: null });
  assert.deepEqual(missing(sale({ captured: 4500, refundable: 4500 })), { refund: null, reverse: null });
  assert.deepEqual(missing(sale({ captured: 4500, refunded: 4500 })), { refund: "day.nothingLeft", reverse: null });
  assert.deepEqual(missing(sale({ captured: 4500, refundable: 4500 }), ["purchase"]), { refund: "day.needsRefund", reverse: null });
  assert.deepEqual(missing(sale({ ...held, remaining: 0, captured: 4500, refundable: 4500 })), { capture: "day.nothingHeld", adjust: "day.nothingHeld", release: "day.nothingHeld", refund: null, reverse: null });
  assert.deepEqual(acts({ ...sale({}), state: "declined", account: undefined }, ["purchase", "refund"]), []);
  for (const key of ["nothingHeld", "nothingCaptured", "nothingLeft", "needsRefund", "needsManager", "needsSale"]) assert.ok(`day.${key}` in messages("en"), key);
});

test("D7: a tip is a part of what is captured, and no more is asked for than can be had", () => {
  const read = (act, amount, tip = "", most = 5000) => demandOf(act, { amount, tip }, "EUR", true, most);
  assert.deepEqual(read("capture", "40,00", "5.00").demand, { amount: { value: 4500, currency: "EUR" }, tip: { value: 500, currency: "EUR" } });
  assert.deepEqual(read("capture", "40.00").demand, { amount: { value: 4000, currency: "EUR" } });
  assert.equal(read("capture", "48.00", "5.00").wrong, "day.most");
  assert.deepEqual(read("adjust", "60.00", "", 0).demand, { total: { value: 6000, currency: "EUR" } });
  assert.deepEqual(read("release", "").demand, {});
  assert.deepEqual(read("refund", "5.00").demand, { amount: { value: 500, currency: "EUR" } });
  for (const [amount, tip] of [["", ""], ["x", ""], ["4.00", "x"], ["4.00", "-1.00"]]) assert.equal(read("capture", amount, tip).wrong, "entry.unclear", `${amount} ${tip}`);
  assert.equal(read("refund", "0").wrong, "entry.notPositive");
});

test("D7: a sale is found by order, number, sum and the last four digits", () => {
  assert.deepEqual(questions("A-17", "EUR"), ["order=A-17"]);
  assert.deepEqual(questions(" 12,50 ", "EUR"), ["order=12%2C50", "amount=1250&currency=EUR"]);
  assert.deepEqual(questions("42", "EUR"), ["order=42", "number=42", "amount=42&currency=EUR", "amount=4200&currency=EUR"]);
  assert.deepEqual(questions("", "EUR"), []);
  assert.equal(lastFour(" 0119 "), "0119");
  assert.equal(lastFour("119"), null);
  assert.deepEqual(merged([{ id: "a", number: 1 }], [{ id: "b", number: 2 }, { id: "a", number: 1 }]).map(({ id }) => id), ["b", "a"]);
});

test("D7: sums of several lines are one for each currency, by the words of the report", () => {
  const zero = Object.fromEntries(["captured", "tips", "refunded", "reversed", "corrected", "handedOver", "held", "released"].map((word) => [word, { count: 0, value: 0 }]));
  const lines = [{ ...zero, mode: "test", currency: "EUR", captured: { count: 2, value: 2500 }, tips: { count: 1, value: 500 } }, { ...zero, mode: "test", currency: "EUR", captured: { count: 1, value: 1000 }, refunded: { count: 1, value: -300 } }];
  assert.deepEqual(totalsOf({ lines, net: [{ mode: "test", currency: "EUR", value: 3200 }] }), [{ currency: "EUR", net: 3200, rows: [
    { word: "word.captured", count: 3, value: 3500 }, { word: "till.tip", count: 1, value: 500 }, { word: "word.refunded", count: 1, value: -300 }] }]);
});

test("D7: a refund that names its sale cannot be stopped, and its rest names the sale, too", () => {
  const made = request("k", "A-17", { type: "refund", of: "t1", amount: { value: 1000, currency: "EUR" } });
  const following = (transaction) => ({ phase: "following", request: made, transaction: { id: "r1", type: "refund", order: "A-17", amount: { value: 1000, currency: "EUR" }, updatedAt: "1", history: [], ...transaction } });
  assert.ok(namesSale({ request: made }));
  // Also one that nobody has written down.
  assert.ok(namesSale({ request: found({ id: "r1", type: "refund", of: "t1", details: { refundCard: "none" } }) }));
  assert.ok(!namesSale({ request: found({ id: "r1", type: "refund", of: "t1", details: { refundCard: "same" } }) }));
  assert.ok(!mayStop(following({ state: "sent" })));
  const [rest] = step(following({ state: "approved", result: { outcome: "partiallyApproved", amountApproved: { value: 400, currency: "EUR" } } }), { kind: "rest", key: "k2" });
  assert.deepEqual(JSON.parse(rest.request.body), { type: "refund", of: "t1", amount: { value: 600, currency: "EUR" }, order: "A-17" });
});

// A daemon that loses answers: what is asked for with the same key is done once.
class Storage {
  constructor() { this.items = new Map(); }
  getItem(name) { return this.items.get(name) ?? null; }
  setItem(name, value) { this.items.set(name, String(value)); }
  removeItem(name) { this.items.delete(name); }
}
class Daemon {
  constructor(lose) { Object.assign(this, { lose, done: new Map(), asked: 0 }); }
  async call(method, path, { body, key } = {}) {
    if (method === "GET") return { body: path.includes("/operations") ? { operations: this.operations ?? [] } : path.includes("/v1/days") ? { days: [] } : { id: "t1", lines: [], net: [], open: [] } };
    this.asked += 1;
    const isLost = this.lose.shift();
    if (isLost === "before") throw new Lost("");
    if (isLost === "refused") throw new Refused(409, { code: "operation.pending", message: "An operation has no end yet" });
    if (!this.done.has(key)) this.done.set(key, { path, body });
    if (isLost === "after") throw new Lost("");
    return { body: path.endsWith("/v1/days") ? { day: { number: this.done.size } } : { state: "done", result: { outcome: "approved" } } };
  }
}
const immediately = (run) => {
  const former = globalThis.setTimeout;
  globalThis.setTimeout = (work) => former(work, 0);
  return run().finally(() => { globalThis.setTimeout = former; });
};

test("D7: a capture, and the end of a day, whose answers are lost are done once", () => immediately(async () => {
  for (const lose of [[], ["before"], ["after"], ["before", "after", "after", "before"]]) {
    const daemon = new Daemon([...lose]), storage = new Storage(), book = new Book(daemon, () => {}, () => {}, storage);
    await book.open("t1");
    await book.perform("t1", "captures", { amount: { value: 100, currency: "EUR" } });
    assert.equal(daemon.done.size, 1, lose.join());
    assert.equal(book.note, "till.done");
    assert.equal(book.unfinished("t1"), null);
    daemon.lose = [...lose];
    assert.equal(await book.closeDay(), 2, lose.join());
    assert.equal(daemon.done.size, 2);
    assert.equal(book.unfinishedDay, null);
  }
}));

test("D7: a window that dies leaves what it asked for, and the next one sends the same with the same key", () => immediately(async () => {
  const daemon = new Daemon(["after"]), storage = new Storage();
  const first = new Book(daemon, () => {}, () => {}, storage);
  await first.open("t1");
  const asked = first.perform("t1", "captures", { amount: { value: 4500, currency: "EUR" } });
  // The cashier leaves while nobody answers: nothing more is sent by itself.
  first.shown = null;
  await asked;
  assert.equal(daemon.asked, 1);
  const next = new Book(daemon, () => {}, () => {}, storage);
  await next.open("t1");
  assert.equal(next.unfinished("t1").call, "captures");
  assert.equal(daemon.asked, 1);
  await next.perform("t1");
  assert.deepEqual([...daemon.done.values()].map(({ body }) => JSON.parse(body).amount.value), [4500]);
  assert.equal(next.unfinished("t1"), null);
}));

test("D7: a refusal is for good, says why, and leaves nothing to be sent", () => immediately(async () => {
  const storage = new Storage(), book = new Book(new Daemon(["refused"]), () => {}, () => {}, storage);
  await book.open("t1");
  await book.perform("t1", "releases", {});
  assert.equal(book.trouble.code, "operation.pending");
  assert.equal(book.unfinished("t1"), null);
}));

test("an address for a receipt is an e-mail address or a number with its country, however it is written", () => {
  for (const [typed, wish] of [[" ada@example.com ", { email: "ada@example.com" }], ["jörg@bücher.example", { email: "jörg@bücher.example" }],
    ["+49 (151) 123-456 78", { phone: "+4915112345678" }], ["0049 151 12345678", { phone: "+4915112345678" }], ["+٤٩١٥١١٢٣٤٥٦٧٨", { phone: "+4915112345678" }]]) {
    assert.deepEqual(addressOf(typed), wish, typed);
  }
  for (const typed of ["", "ada", "ada@", "ada@example", "a@b@example.com", "ada,eve@example.com", "0151 123456", "+0151123456", "+123", "+1234567890123456"]) assert.equal(addressOf(typed), null, typed);
});

test("the bars of a tap follow one another, and the air's is a part of the card's", () => {
  const bars = (tap) => tapBars(tap).map(({ word, from, part, milliseconds }) => [word.slice(4), from, part, milliseconds]);
  assert.deepEqual(bars({ air: 40000, card: 300000, sending: 50000, service: 650000 }),
    [["air", 0, 0.04, 40], ["card", 0, 0.3, 300], ["sending", 0.3, 0.05, 50], ["service", 0.35, 0.65, 650]]);
  // A card that declines by itself, and one that is simulated: nothing is sent, and its bytes take no time.
  assert.deepEqual(bars({ air: 0, card: 2000 }), [["air", 0, 0, 0], ["card", 0, 1, 2]]);
  assert.deepEqual(bars({ air: 4000, card: 1000, sending: 0 }), [["air", 0, 1, 4], ["card", 0, 0.25, 1], ["sending", 0.25, 0, 0]]);
  for (const tap of [{ air: 0, card: 0 }, { air: 1, card: 1, sending: 1, service: 1 }]) {
    for (const { from, part } of tapBars(tap)) assert.ok(from >= 0 && part >= 0 && from + part <= 1 + 1e-9);
  }
});
