// SPDX-License-Identifier: Apache-2.0
// What became of a sale, and what can still become of it, from what the daemon says of it: the words of docs/shop/money.md, the acts that are
// offered, and how a sale is looked for. No page, clock or network.
import { parseAmount } from "./money.js";
import { actOf, endKey, found, screenOf } from "./sale.js";

export const isPayment = ({ type }) => ["purchase", "charge", "link", "handover"].includes(type);
const running = new Set(["starting", "preparing", "armed", "reading", "authorising", "link", "elsewhere", "unknown", "reversing", "stored"]);

// {word, value} of each sum of a sale's account, as keys of the messages; what is nothing has no line.
export function sums({ account }) {
  if (!account) return [];
  return [["word.captured", account.captured], ["word.held", account.remaining], ["word.refunded", account.refunded], ["word.released", account.released]]
    .filter(([, value]) => value > 0).map(([word, value]) => ({ word, value }));
}

// The words for what a sale has come to: one, or two where a part of it was given back.
export function wordsOf(sale) {
  const request = found(sale), screen = screenOf({ phase: "following", request, transaction: sale }), act = actOf({ request, transaction: sale });
  if (sale.state === "reversed" || sale.account?.state === "reversed") return ["word.reversed"];
  if (running.has(screen)) return ["word.open"];
  const words = sums(sale).map(({ word }) => word);
  if (words.length) return words;
  if (!["approved", "partial"].includes(screen)) return [endKey(screen, act)];
  return [sale.type === "refund" ? "word.refunded" : isPayment(sale) ? "word.captured" : endKey("approved", act)];
}

// What can be done with a sale: its name, and what is missing for it, as a key of the messages. A button is never grey: it says so once pressed.
export function acts(sale, types) {
  const { account } = sale;
  if (!isPayment(sale) || sale.state !== "approved" || !account) return [];
  const nothing = account.remaining > 0 ? null : "day.nothingHeld";
  const refund = !types.includes("refund") ? "day.needsRefund" : account.refundable > 0 ? null : account.captured > 0 ? "day.nothingLeft" : "day.nothingCaptured";
  const held = account.capture === "manual" ? [["capture", nothing], ["adjust", nothing], ["release", nothing]] : [];
  return [...held, ["refund", refund], ["reverse", account.state === "reversed" ? "day.nothingCaptured" : null]].map(([name, missing]) => ({ name, missing }));
}

// A sum that was typed for an act, and a tip beside it: what is sent, or what is wrong with it. `most` of 0 is no limit.
export function demandOf(act, { amount, tip }, currency, implied, most) {
  if (act === "release") return { demand: {} };
  const value = parseAmount(amount, currency, implied), extra = act === "capture" && tip.trim() ? parseAmount(tip, currency, implied) : 0;
  if (value === null || extra === null || extra < 0) return { wrong: "entry.unclear" };
  const total = value + extra;
  if (total <= 0) return { wrong: "entry.notPositive" };
  if (most > 0 && total > most) return { wrong: "day.most" };
  const money = { value: total, currency };
  if (act === "adjust") return { demand: { total: money }, total };
  return { demand: { amount: money, ...(extra > 0 && { tip: { value: extra, currency } }) }, total };
}

// The questions for what was typed: as an order, as a number of the list, as a sum with or without its decimal sign.
export function questions(text, currency) {
  const typed = text.trim(), asked = [];
  if (/^[!-~]{1,64}$/.test(typed)) asked.push(`order=${encodeURIComponent(typed)}`);
  if (/^\d{1,9}$/.test(typed)) asked.push(`number=${Number(typed)}`);
  const values = new Set([true, false].map((implied) => parseAmount(typed, currency, implied)));
  for (const value of values) if (value > 0) asked.push(`amount=${value}&currency=${currency}`);
  return asked;
}

// Where the time of a tap went, as bars under one another: `from` and `part` of the whole, and milliseconds. Each begins where the one before has ended,
// but for the air's, which is a part of the card's.
export function tapBars({ air, card, sending, service }) {
  const whole = Math.max(card + (sending ?? 0) + (service ?? 0), air, 1);
  let from = 0;
  return [["tap.air", air], ["tap.card", card], ["tap.sending", sending], ["tap.service", service]].filter(([, time]) => time !== undefined).map(([word, time]) => {
    const bar = { word, from: from / whole, part: time / whole, milliseconds: time / 1000 };
    if (word !== "tap.air") from += time;
    return bar;
  });
}

// The last four digits of a card, which the daemon does not search for.
export const lastFour = (text) => (/^\d{4}$/.test(text.trim()) ? text.trim() : null);

// Each sale once, the newest first.
export function merged(...lists) {
  const all = new Map(lists.flat().map((one) => [one.id, one]));
  return [...all.values()].sort((one, other) => (other.number ?? 0) - (one.number ?? 0));
}

// One line for each currency: sums by the words of the report, and the shop's money.
export const totalWords = ["captured", "tips", "refunded", "reversed", "corrected", "handedOver", "held", "released"];
export function totalsOf({ lines, net }) {
  return net.map(({ mode, currency, value }) => {
    const mine = lines.filter((line) => line.mode === mode && line.currency === currency);
    const figure = (word) => mine.reduce((all, line) => ({ count: all.count + line[word].count, value: all.value + line[word].value }), { count: 0, value: 0 });
    const rows = totalWords.map((word) => ({ word: word === "tips" ? "till.tip" : `word.${word}`, ...figure(word) }));
    return { currency, net: value, rows: rows.filter((row) => row.count || row.value) };
  });
}

// What to do about an open one, as a key of the messages: the rows of docs/shop/money.md.
const todo = { sent: "wait", unknown: "wait", unknownOperation: "wait", unknownRefund: "wait", reversing: "reversing", stored: "stored", inBatch: "stored",
  handedOver: "handedOver", uncaptured: "uncaptured", unconfirmed: "unconfirmed" };
export const todoKey = (kind) => `open.${todo[kind] ?? "person"}`;

// The same for a sale whose screen is open; null where a customer is just being asked.
export function todoOf({ type, state }) {
  if (type === "link" || type === "handover") return { link: "till.linkOpen", handover: "till.elsewhere" }[type];
  return state === "delivered" ? "open.handedOver" : state in todo ? todoKey(state) : null;
}

// Where a customer wants the receipt: an e-mail address, or a telephone number with its country; null for what is neither.
export function addressOf(text) {
  const typed = text.trim();
  if (typed.includes("@")) return /^[^\s@<>,;:"()[\]\\]+@[^\s@.<>,;:"()[\]\\]+(\.[^\s@.<>,;:"()[\]\\]+)+$/.test(typed) ? { email: typed } : null;
  const number = typed.normalize("NFKC").replace(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String((digit.charCodeAt(0) - 0x30) & 0xF))
    .replace(/[\s().\/-]|\p{Cf}/gu, "").replace(/^00/, "+");
  return /^\+[1-9]\d{6,14}$/.test(number) ? { phone: number } : null;
}
