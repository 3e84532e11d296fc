// SPDX-License-Identifier: Apache-2.0
// One sale as the till sees it: a machine without page, clock or network. `step` takes a sale and what happened, and
// gives the sale and what is to be done. What the daemon says of the transaction is the only source of a result:
// events, lost answers and presses never make one.

export const nothing = Object.freeze({ phase: "none", request: null, transaction: null, error: null, cancelling: false, again: null });

const settled = new Set(["approved", "declined", "stored", "delivered", "cancelled", "failed", "reversing", "reversed", "completed"]);
export const isSettled = (transaction) => Boolean(transaction) && settled.has(transaction.state);

// A request is made once and written down before it is sent; its body never changes. `part` is the request whose rest it asks for, and
// `card` the one by card that a link is in the place of.
export function request(key, order, members, part, card) {
  return Object.freeze({ key, order, body: JSON.stringify({ ...members, order }), ...(part && { part }), ...(card && { card }) });
}

// A sale of this till that nobody has written down: all that the daemon says of it.
export function found({ id, type, lane, amount, order, of, details }) {
  const { amountStatus, language, reason, refundCard } = details ?? {};
  const card = refundCard === "none" ? undefined : refundCard;
  return Object.freeze({ key: `found/${id}`, id, order, body: JSON.stringify({ type, of, card, lane, amount, amountStatus, language, reason, order }) });
}
// A card was read, and nobody knows yet what became of it.
export const inDoubt = ["sealed", "sent", "unknown"];

// Whether the daemon speaks of the sale that was asked for, to the last minor unit.
export function matches(transaction, { body, order }) {
  const asked = JSON.parse(body);
  return transaction.type === asked.type && (transaction.order === undefined || transaction.order === order)
    && (!asked.amount || (transaction.amount?.value === asked.amount.value && transaction.amount.currency === asked.amount.currency));
}

// What the card or phone asked for last, as a key of the messages: from the events that the transaction carries.
export function prompt(transaction) {
  const reads = (transaction.events ?? []).filter((event) => event.name.startsWith("read.") && event.name !== "read.cardDetected");
  const last = reads.at(-1);
  // A card that lies there from before has to come anew; after a read, it may simply go.
  if (last?.name !== "read.retry" && !(last?.name === "read.removeCard" && transaction.state !== "reading")) return "hold";
  if (last.customerAction === "presentOneCardOnly" || last.message === "presentOneCardOnly") return "one";
  if (["unlockPhone", "choosePass", "followSignUp"].includes(last.customerAction) || last.message === "seePhone") return "phone";
  // A card that no kernel here takes will not be read the next time.
  if (last.error?.code === "read.card_unsupported") return "other";
  if (["insertCard", "insertOrSwipe", "insertSwipeOrTryAnotherCard"].includes(last.message)) return "chip";
  return "again";
}

// The screen for a sale. `approved` comes from here and from nowhere else.
export function screenOf(sale) {
  switch (sale.phase) {
    case "none": return "compose";
    case "asking": return "asking";
    case "notStarted": return "notStarted";
    case "othersSale": return "unknown";
    case "refused": return { "order.unresolved": "blocked", "order.paid": "paidBefore", "transaction.damaged": "unknown" }[sale.error?.code] ?? "refused";
  }
  const { transaction } = sale;
  if (!transaction) return "starting";
  if (!matches(transaction, sale.request)) return "unknown";
  switch (transaction.state) {
    case "created": return "starting";
    case "sealed": case "sent":
      if (transaction.type === "handover") return "elsewhere";
      return transaction.type !== "link" ? "authorising" : transaction.link ? "link" : "starting";
    case "delivered": return "stored";
    case "approved": return approvedScreen(transaction);
    case "preparing": case "armed": case "reading": case "declined": case "stored": case "cancelled": case "failed":
    case "reversing": case "reversed": case "completed": return transaction.state;
    default: return "unknown";
  }
}

function approvedScreen({ result, settlement, amount }) {
  if (settlement && !result) return "approved";
  const paid = result?.amountApproved;
  if (result?.outcome === "partiallyApproved") return paid ? "partial" : "unknown";
  if (result?.outcome !== "approved" && !settlement) return "unknown";
  return paid && amount && (paid.currency !== amount.currency || paid.value < amount.value) ? "partial" : "approved";
}

// What the card was asked for, which an approval means: money that came, that is only held or that goes back, or a read.
export function actOf({ request, transaction }) {
  const asked = JSON.parse(request.body), details = transaction?.details;
  switch (asked.type) {
    case "refund": return "refund";
    case "loyalty": return "pass";
    // An approval alone stores no card.
    case "verification": return transaction?.credential ? "cardSaved" : "checked";
    default: return details?.capture?.mode === "manual" || (details?.amountStatus ?? asked.amountStatus) === "preauthorized" ? "held" : "sale";
  }
}

// The headline of an end, and of what is put aside, as a key of the messages. A refund or a sum that is only held is called by no word of a sale's.
export function endKey(screen, act) {
  if (screen === "approved") return { sale: "approved", refund: "refunded", pass: "till.completed" }[act] ?? act;
  if (act === "refund" && ["unknown", "reversing", "reversed"].includes(screen)) return `till.${screen}.refund`;
  return ["declined", "cancelled", "failed"].includes(screen) ? screen : `till.${screen}`;
}

// The sentence with the sum of an approval; none where nothing was charged.
export const sumKey = (act) => ({ sale: "approved.sum", refund: "refunded.sum", held: "held.sum" }[act] ?? null);

// The same goods may be charged again only after an end that says that nothing was charged.
const repeatable = new Set(["declined", "cancelled", "failed", "notStarted", "refused", "completed"]);
export const mayRepeat = (sale) => repeatable.has(screenOf(sale)) && sale.error?.code !== "idempotency.in_progress";

// The part that is paid, where its rest was not: the till goes back to it, so that the rest is paid otherwise or the part taken back.
const unpaid = new Set([...repeatable, "reversing", "reversed", "blocked", "paidBefore"]);
export const partOf = (sale) => (unpaid.has(screenOf(sale)) && sale.request?.part) || null;

// Paid by no card that is read here: they take no lane.
export const paidElsewhere = new Set(["link", "handover"]);

// Whether asking again asks for a card at a lane of this till.
export const needsLane = (sale) => !namesSale(sale) && Boolean(sale.request) && !paidElsewhere.has(membersOf(sale.request.card ?? sale.request).type);

// A screen that the cashier may leave for good: nothing of it is in doubt any more.
const leavable = new Set([...repeatable, "compose", "approved", "partial", "stored", "reversing", "reversed", "paidBefore", "blocked"]);
export const mayLeave = (sale) => leavable.has(screenOf(sale));

// A sale in doubt, and one that is paid elsewhere, can be put aside, never forgotten, so that another customer can be served.
export const mayPutAside = (sale) => ["unknown", "link"].includes(screenOf(sale)) || screenOf(sale) === "elsewhere";

// A sale that ended without money, where the service opens links.
export const mayLink = (sale) => mayRepeat(sale) && Boolean(sale.transaction?.alternatives?.some((one) => one.kind === "paymentLink"));

// Another way to pay goes on with what the card gave before it, or its issuer, wanted a PIN.
export const mayGoOn = (sale, now) => (mayLink(sale) || terminals(sale).length > 0) && Date.parse(sale.transaction.result?.readKeptUntil ?? "") > now;

// The terminals that take a sale that ended without money.
export const terminals = (sale) => (mayRepeat(sale) ? sale.transaction?.alternatives ?? [] : []).filter((one) => one.kind === "otherInterface").map((one) => one.request.to);

// While a card is read nothing is cancelled, unless it has to be presented again.
const cancellable = (sale) => ["starting", "preparing", "armed", "link", "elsewhere"].includes(screenOf(sale)) || (screenOf(sale) === "reading" && prompt(sale.transaction) !== "hold");
export const mayCancel = (sale) => cancellable(sale) && !sale.cancelling;
export const mayStop = (sale) => screenOf(sale) === "authorising" && !sale.cancelling && !namesSale(sale);

// A refund of a sale that it names: no card is waited for, and an answer that is missing is never taken for a refusal.
export const namesSale = ({ request }) => Boolean(request && JSON.parse(request.body).of && !JSON.parse(request.body).card);

// Sent again with the same key, later: nobody has said that it was not carried out.
export const isTransient = (status, error) =>
  [408, 429, 502, 504].includes(status) || ["idempotency.in_progress", "daemon.unavailable", "request.too_often"].includes(error.code);

const same = (sale) => [sale, []];

export function step(sale, input) {
  switch (input.kind) {
    case "sell":
      if (sale.phase !== "none") return same(sale);
      if (input.aside?.includes(input.request.order)) {
        return [{ ...nothing, phase: "refused", request: input.request, error: { code: "order.unresolved" } }, []];
      }
      return start(input.request);

    // After a reload: ask first, send nothing. What was on the screen before is over, or stays on the list.
    case "restore": {
      const before = sale.request && sale.request.key !== input.request.key ? [{ do: mayLeave(sale) ? "forget" : "putAside", request: sale.request }] : [];
      return [{ ...nothing, phase: "asking", request: input.request }, [...before, { do: "ask" }]];
    }

    // It was written down when this browser was another till: who may ask about it is not here.
    case "othersSale":
      return sale.phase === "asking" && input.key === sale.request.key ? [{ ...sale, phase: "othersSale" }, []] : same(sale);

    // GET or POST gave the transaction. An answer that was overtaken says nothing any more.
    case "answer": {
      const { transaction, key } = input;
      if (key !== sale.request?.key) return same(sale);
      const known = sale.transaction;
      if (known && (known.id !== transaction.id || known.updatedAt > transaction.updatedAt
        || known.history?.length > transaction.history?.length)) return same(sale);
      const next = { ...sale, phase: "following", transaction, error: null };
      if (isSettled(transaction)) {
        if (sale.again && transaction.state === "cancelled") return start(sale.again, sale.request);
        return [{ ...next, cancelling: false, again: null }, []];
      }
      return [next, sale.cancelling && !known ? [{ do: "cancel" }] : []];
    }

    // The daemon has never had this key.
    case "neverSeen":
      return sale.phase === "asking" && input.key === sale.request.key ? [{ ...sale, phase: "notStarted" }, []] : same(sale);

    // The POST was answered with an error for good: nothing was started by it.
    case "refused":
      if (sale.phase !== "sending" || input.key !== sale.request.key) return same(sale);
      return [{ ...sale, phase: "refused", error: input.error, cancelling: false, again: null }, []];

    // Events say when to ask, never what.
    case "event":
      return sale.transaction && input.event.transaction === sale.transaction.id ? [sale, [{ do: "get" }]] : same(sale);

    case "look":
      if (sale.phase === "following") return [sale, [{ do: "get" }]];
      return screenOf(sale) === "blocked" && sale.error.transaction ? [sale, [{ do: "getOther", id: sale.error.transaction }]] : same(sale);

    // What became of the payment that stood in the way.
    case "other":
      if (screenOf(sale) !== "blocked" || input.transaction.id !== sale.error.transaction) return same(sale);
      if (input.transaction.state === "approved") return [{ ...sale, error: { ...sale.error, code: "order.paid" } }, []];
      if (["declined", "cancelled", "failed", "reversed"].includes(input.transaction.state)) return [{ ...sale, error: { code: "order.free" } }, []];
      return same(sale);

    case "cancel":
      if (!mayCancel(sale) && !mayStop(sale)) return same(sale);
      return [{ ...sale, cancelling: true, again: null }, sale.transaction ? [{ do: "cancel" }] : []];

    // More time: a sale of its own, after the end of this one.
    case "moreTime":
      if (!mayCancel(sale) || !sale.transaction) return same(sale);
      return [{ ...sale, cancelling: true, again: request(input.key, sale.request.order, members(sale), sale.request.part) }, [{ do: "cancel" }]];

    case "notCancelled":
      return [{ ...sale, cancelling: false, again: null }, [{ do: "get" }]];

    // The same goods once more: what was never started keeps its key, everything else gets a new one.
    case "again":
      if (!mayRepeat(sale)) return same(sale);
      if (sale.phase === "notStarted") return start(sale.request);
      return start(request(input.key, sale.request.order, { ...membersOf(sale.request.card ?? sale.request), ...input.changes }, sale.request.part), sale.request);

    // The same goods by a link: it needs no lane.
    case "link": {
      if (!mayLink(sale)) return same(sale);
      const { amount, language, allowRepeat } = members(sale);
      return start(request(input.key, sale.request.order, { type: "link", retryOf: sale.transaction.id, amount, language, allowRepeat },
        sale.request.part, sale.request.card ?? sale.request), sale.request);
    }

    // The same goods at another terminal, which is none of the till's lanes either.
    case "handover": {
      if (!terminals(sale).includes(input.to)) return same(sale);
      const { amount, language, allowRepeat } = members(sale);
      return start(request(input.key, sale.request.order, { type: "handover", retryOf: sale.transaction.id, to: input.to, amount, language, allowRepeat },
        sale.request.part, sale.request.card ?? sale.request), sale.request);
    }

    // The rest of what was approved in part, on the same order.
    case "rest": {
      if (screenOf(sale) !== "partial") return same(sale);
      const { amount, result } = sale.transaction;
      const open = { value: amount.value - result.amountApproved.value, currency: amount.currency };
      // The rest of a refund is given back, and that of a sum that is held is held.
      const { type, of, card, lane, language, amountStatus } = membersOf(sale.request.card ?? sale.request);
      const rest = type === "refund" ? { type, of, card, lane, language, amount: open } : { type: "purchase", lane, language, amount: open, amountStatus, allowRepeat: true };
      return start(request(input.key, sale.request.order, rest, sale.request), sale.request);
    }

    case "leave":
      return mayLeave(sale) ? [nothing, [{ do: "forget", request: sale.request }]] : same(sale);

    case "putAside":
      return mayPutAside(sale) ? [nothing, [{ do: "putAside", request: sale.request }]] : same(sale);
  }
  return same(sale);
}

function membersOf(request) {
  const { order, ...rest } = JSON.parse(request.body);
  return rest;
}

const members = (sale) => membersOf(sale.request);

// The sale before it is over, and is forgotten once the new one is written down.
function start(made, before) {
  const forgotten = before && before.key !== made.key ? [{ do: "forget", request: before }] : [];
  return [{ ...nothing, phase: "sending", request: made }, [{ do: "store", request: made }, ...forgotten, { do: "post" }]];
}
