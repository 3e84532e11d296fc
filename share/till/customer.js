// SPDX-License-Identifier: Apache-2.0
// What a customer sees: the gateway's view, and what time does to it. No page, no clock.

const results = new Set(["approved", "partial", "declined", "unknown", "reversing", "stored", "cancelled", "failed"]);
export const isResult = (view) => results.has(view?.phase);
export const welcome = Object.freeze({ phase: "idle", key: "welcome" });

// Seconds, all of them.
export const times = { resultAtLeast: 10, resultAtMost: 60, staffAfterLoss: 5, amountAfterLoss: 30, staffWhenNotReady: 30 };

// `shown` is {view, since, next}: a result stays for ten seconds unless the next customer's sale is there.
export function take(shown, told, now) {
  // A gateway that has not reached the daemon yet cannot say whether money moves: what was said last holds.
  const view = told.phase === "offline" && shown.view.test ? { ...told, test: true } : told;
  if (isResult(shown.view) && view.phase === "idle" && now - shown.since < times.resultAtLeast) return { ...shown, next: view };
  const same = shown.view.phase === view.phase && shown.view.key === view.key;
  return { view, since: same ? shown.since : now, next: null };
}

// Time goes by: a result gives way to what came after it, or to the welcome.
export function advance(shown, now) {
  if (!isResult(shown.view)) return shown;
  const passed = now - shown.since;
  if (!(passed >= times.resultAtMost || (shown.next && passed >= times.resultAtLeast))) return shown;
  return { view: shown.next ?? { ...welcome, test: shown.view.test }, since: now, next: null };
}

// What to show now: the lines as keys of the messages, and the parts of the view that may still be seen.
export function picture(shown, now, lostSince = null) {
  // A check of a card comes with an amount of nothing, which is not for paying.
  const view = shown.view.amount?.value > 0 ? shown.view : { ...shown.view, amount: undefined };
  const passed = now - shown.since;
  // A refund asks for a card and is no payment.
  const whom = { subject: view.type === "refund" ? "till.refund" : "pay", payee: view.payee, through: view.through };
  if (lostSince !== null) {
    const gone = now - lostSince;
    if (gone >= times.staffAfterLoss) {
      const amount = gone < times.amountAfterLoss && !isResult(view) ? view.amount : undefined;
      return { phase: "offline", lines: ["staff"], amount, ...whom, test: view.test };
    }
  }
  const { phase, test } = view;
  switch (phase) {
    case "idle": return { phase, lines: ["welcome"], test };
    case "ready": case "again": case "reading": {
      const line = phase === "reading" ? (shown.view.amount ? "hold" : "pass") : view.key;
      return { phase, lines: [line], amount: view.amount, ...whom, items: view.items, pending: view.pending, test, here: line !== "chip" };
    }
    case "processing": return { phase, lines: [view.key], amount: view.amount, ...whom, test, busy: view.key === "wait" || view.key === "pin" };
    case "link": return { phase, lines: [view.key], amount: view.amount, ...whom, items: view.items, pending: view.pending, qr: view.qr, test };
    case "approved": return { phase, sign: "good", lines: [view.key === "sign" ? "sign" : "approved", "thanks"], qr: view.qr, test };
    case "partial": return { phase, sign: "part", lines: ["partial"], paid: view.paid, open: view.open, qr: view.qr, test };
    case "declined": return { phase, sign: "bad", lines: ["declined", view.key === "chip" ? "chip" : "other"], test };
    case "unknown": case "reversing": case "stored": case "cancelled": case "failed":
      return { phase, sign: { unknown: "doubt", stored: "later" }[phase] ?? "none", lines: [phase], test };
    case "notReady":
      return { phase, lines: [view.key === "staff" || passed >= times.staffWhenNotReady ? "staff" : "notReady"], test, busy: true };
    default: return { phase: "offline", lines: [view.key === "staff" || passed >= times.staffAfterLoss ? "staff" : "notReady"], test };
  }
}
