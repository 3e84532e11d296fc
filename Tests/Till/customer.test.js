// SPDX-License-Identifier: Apache-2.0
// What time does to the customer's screen, and what both screens call an approval. The view's members are those of GET /v1/display.
import test from "node:test";
import assert from "node:assert/strict";
import { actOf, endKey, request, screenOf, sumKey } from "../../share/till/sale.js";
import { advance, isResult, picture, take, welcome } from "../../share/till/customer.js";

const amount = { value: 1250, currency: "EUR" };
const fresh = { view: welcome, since: 0, next: null };
const phases = ["idle", "ready", "again", "reading", "processing", "approved", "partial", "declined", "unknown", "reversing", "stored", "cancelled", "failed",
  "notReady", "offline", "link"];

test("a result stays for ten seconds after the cashier went on, and for sixty at the most", () => {
  const approved = take(fresh, { phase: "approved", key: "approved" }, 100);
  const gone = take(approved, { phase: "idle", key: "welcome" }, 103);
  assert.equal(picture(advance(gone, 109.9), 109.9).phase, "approved");
  assert.equal(picture(advance(gone, 110), 110).phase, "idle");
  assert.equal(picture(advance(approved, 159), 159).phase, "approved");
  assert.equal(picture(advance(approved, 160), 160).phase, "idle");
});

test("whose cards are taken stands on the welcome, also after a result that has gone by itself", () => {
  const networks = ["Visa", "Card"];
  const approved = take(take(fresh, { phase: "idle", key: "welcome", networks }, 90), { phase: "approved", key: "approved", networks }, 100);
  assert.deepEqual(picture(advance(approved, 160), 160).networks, networks);
  assert.equal(picture(approved, 101).networks, undefined);
});

test("row 24: an address is asked for with an approval that has its word, for two minutes, and not once the next sale waits", () => {
  const approved = take(fresh, { phase: "approved", key: "approved", amount, type: "purchase", receiptWord: "w" }, 100);
  assert.equal(picture(approved, 101).receipt, "w");
  assert.equal(picture(advance(approved, 219), 219).phase, "approved");
  assert.equal(picture(advance(approved, 220), 220).phase, "idle");
  const waiting = take(approved, { phase: "idle", key: "welcome" }, 103);
  assert.deepEqual([picture(waiting, 103).phase, picture(waiting, 103).receipt], ["approved", undefined]);
  assert.equal(picture(take(fresh, { phase: "approved", key: "approved", amount, type: "purchase" }, 100), 101).receipt, undefined);
  for (const phase of phases.filter((one) => one !== "approved" && one !== "partial")) assert.equal(picture(take(fresh, { phase, key: "welcome", receiptWord: "w" }, 1), 1).receipt, undefined, phase);
});

test("the next customer's sale does not wait for the last one's result", () => {
  const approved = take(fresh, { phase: "approved", key: "approved" }, 100);
  assert.equal(picture(take(approved, { phase: "ready", key: "hold", amount }, 101), 101).amount, amount);
});

test("without the gateway staff are asked for after five seconds, and the amount goes after thirty", () => {
  const ready = take(fresh, { phase: "ready", key: "hold", amount }, 100);
  assert.deepEqual(picture(ready, 104, 100).lines, ["hold"]);
  assert.deepEqual(picture(ready, 105, 100).lines, ["staff"]);
  assert.equal(picture(ready, 129, 100).amount, amount);
  assert.equal(picture(ready, 130, 100).amount, undefined);
});

test("a reader that is not ready for thirty seconds calls for staff", () => {
  const waiting = take(fresh, { phase: "notReady", key: "notReady" }, 10);
  assert.deepEqual(picture(waiting, 39).lines, ["notReady"]);
  assert.deepEqual(picture(waiting, 40).lines, ["staff"]);
});

test("M9: what was done is said in words with its sum, and only money that came has the good sign", () => {
  const approved = (view) => picture(take(fresh, { phase: "approved", key: "approved", amount, ...view }, 1), 1);
  for (const [view, sign, lines] of [
    [{ type: "purchase" }, "good", ["approved", "approved.sum", "thanks"]], [{ type: "link" }, "good", ["approved", "approved.sum", "thanks"]],
    [{ type: "purchase", key: "sign" }, "good", ["sign", "approved.sum", "thanks"]],
    [{ type: "purchase", key: "held", held: true }, "later", ["held", "held.sum"]], [{ type: "purchase", key: "sign", held: true }, "later", ["sign", "held.sum"]],
    [{ type: "refund", key: "refunded" }, "done", ["refunded", "refunded.sum"]], [{ type: "refund" }, "done", ["refunded", "refunded.sum"]],
    [{ type: "verification", key: "checked", amount: { value: 0, currency: "EUR" } }, "done", ["checked"]],
    [{ type: "verification", key: "cardSaved", amount: undefined }, "done", ["cardSaved"]], [{}, "done", ["approved"]]]) {
    const seen = approved(view);
    assert.deepEqual([seen.sign, seen.lines], [sign, lines], JSON.stringify(view));
    if (lines.some((line) => line.endsWith(".sum"))) assert.equal(seen.sum, amount);
  }
  const end = (phase, view) => picture(take(fresh, { phase, key: phase, ...view }, 1), 1).lines;
  assert.deepEqual(end("partial", { type: "refund" }), ["partial.refund"]);
  assert.deepEqual(end("partial", { type: "purchase", held: true }), ["partial.held"]);
  assert.deepEqual(end("unknown", { type: "refund" }), ["unknown.refund"]);
  assert.deepEqual(end("reversing", { type: "refund" }), ["reversing.refund"]);
  assert.deepEqual(end("stored", { type: "purchase", amount }), ["stored", "stored.sum"]);
});

test("R4: beside the word to look at the phone nothing asks for the card", () => {
  const seen = picture(take(fresh, { phase: "again", key: "phone", amount }, 1), 1);
  assert.deepEqual([seen.lines, seen.here], [["phone"], false]);
});

test("only an approval of a payment has the good sign, and no result has an amount beside it", () => {
  for (const phase of phases) {
    const seen = picture(take(fresh, { phase, key: "hold", type: "purchase", amount, payee: "Shop" }, 1), 1);
    assert.equal(seen.sign === "good", phase === "approved", phase);
    if (isResult({ phase })) assert.equal(seen.amount, undefined, phase);
  }
});

test("a decline says that it was not accepted and what to do, never why", () => {
  const seen = (key) => picture(take(fresh, { phase: "declined", key }, 1), 1).lines;
  assert.deepEqual(seen("other"), ["declined", "other"]);
  assert.deepEqual(seen("chip"), ["declined", "chip"]);
  assert.deepEqual(seen("lostCard"), ["declined", "other"]);
});

test("test mode is on every picture, whatever happens", () => {
  for (const phase of phases) for (const lost of [null, 0]) assert.equal(picture(take(fresh, { phase, key: "hold", test: true }, 1), 100, lost).test, true, phase);
  const tested = take(fresh, { phase: "approved", test: true }, 1);
  assert.equal(take(take(tested, { phase: "idle", test: true }, 20), { phase: "offline" }, 30).view.test, true);
  assert.equal(take(take(tested, { phase: "idle", test: true }, 20), { phase: "idle" }, 30).view.test, undefined, "the daemon says that money moves");
  assert.equal(take(tested, { phase: "ready", key: "hold" }, 20).view.test, undefined, "a sale with money");
  assert.equal(advance(take(fresh, { phase: "approved", test: true }, 1), 99).view.test, true);
});

test("wherever a sum is shown it is said what it is", () => {
  for (const phase of phases) for (const lost of [null, 90, 99]) {
    const seen = picture(take(fresh, { phase, key: "hold", amount, type: "purchase", payee: "Shop" }, 99), 100, lost);
    assert.ok(!seen.amount || seen.subject, `${phase} ${lost}`);
  }
});

test("a refund is not called a payment", () => {
  const subject = (type) => picture(take(fresh, { phase: "ready", key: "hold", amount, type, payee: "Shop" }, 1), 1).subject;
  assert.deepEqual([subject("refund"), subject("purchase"), subject(undefined)], ["till.refund", "pay", "pay"]);
});

test("a check of a card shows no amount and asks for the card, not for a pass", () => {
  const zero = { value: 0, currency: "EUR" };
  for (const phase of ["ready", "reading"]) {
    const seen = picture(take(fresh, { phase, key: "hold", amount: zero }, 1), 1);
    assert.deepEqual([seen.amount, seen.lines], [undefined, ["hold"]]);
  }
});

test("reading does not say that the card may go", () => {
  assert.deepEqual(picture(take(fresh, { phase: "reading", key: "hold", amount }, 1), 1).lines, ["hold"]);
  assert.deepEqual(picture(take(fresh, { phase: "reading", key: "hold" }, 1), 1).lines, ["pass"]);
});

test("a link is shown with what is to be paid and its code, takes the place of a result, and is no result itself", () => {
  const declined = take(fresh, { phase: "declined", key: "other" }, 1);
  const shown = take(declined, { phase: "link", key: "link", amount, payee: "Shop", qr: "data:image/svg+xml,x" }, 2);
  const seen = picture(advance(shown, 800), 800);
  assert.deepEqual([seen.lines, seen.amount, seen.qr, seen.payee, seen.sign], [["link"], amount, "data:image/svg+xml,x", "Shop", undefined]);
  assert.equal(isResult(shown.view), false);
  const gone = picture(shown, 40, 3);
  assert.deepEqual([gone.lines, gone.amount, gone.qr], [["staff"], undefined, undefined]);
});

test("M9: an end is called by what was asked for: no refund, no sum that is only held and no read has a sale's word", () => {
  const end = (members, more) => {
    const made = request("k1", "A-17", { type: "purchase", lane: "main", amount, ...members });
    const { type, amount: asked } = JSON.parse(made.body);
    return { phase: "following", request: made, transaction: { id: "t1", type, amount: asked, order: "A-17", state: "approved", result: { outcome: "approved" }, ...more } };
  };
  const check = { type: "verification", amount: undefined, currency: "EUR" };
  for (const [members, more, act, head, sentence] of [
    [{}, {}, "sale", "approved", "approved.sum"], [{ type: "link" }, {}, "sale", "approved", "approved.sum"], [{ type: "handover" }, {}, "sale", "approved", "approved.sum"],
    [{ amountStatus: "pending" }, {}, "sale", "approved", "approved.sum"], [{ type: "refund" }, {}, "refund", "refunded", "refunded.sum"],
    [{ amountStatus: "preauthorized" }, {}, "held", "held", "held.sum"], [{}, { details: { capture: { mode: "manual" } } }, "held", "held", "held.sum"],
    [{ ...check, reason: "saveCard" }, { credential: { id: "c1" } }, "cardSaved", "cardSaved", null], [{ ...check, reason: "saveCard" }, {}, "checked", "checked", null],
    [{ ...check, reason: "lookUp" }, {}, "checked", "checked", null],
    [{ ...check, reason: "other" }, {}, "checked", "checked", null]]) {
    const sale = end(members, more);
    assert.equal(screenOf(sale), "approved");
    assert.deepEqual([actOf(sale), endKey("approved", actOf(sale)), sumKey(actOf(sale))], [act, head, sentence], JSON.stringify(members));
  }
  for (const screen of ["unknown", "reversing", "reversed"]) assert.equal(endKey(screen, "refund"), `till.${screen}.refund`);
});
