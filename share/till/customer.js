// SPDX-License-Identifier: Apache-2.0
// What a customer sees: the gateway's view, and what time does to it. No page, no clock.

const results = new Set(["approved", "partial", "declined", "unknown", "reversing", "stored", "cancelled", "failed"]);
export const isResult = (view) => results.has(view?.phase);
export const welcome = Object.freeze({ phase: "idle", key: "welcome" });

// Seconds, all of them.
export const times = { resultAtLeast: 10, resultAtMost: 60, resultWithReceipt: 120, staffAfterLoss: 5, amountAfterLoss: 30, staffWhenNotReady: 30 };

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
  const most = shown.view.receiptWord ? times.resultWithReceipt : times.resultAtMost;
  if (!(passed >= most || (shown.next && passed >= times.resultAtLeast))) return shown;
  return { view: shown.next ?? { ...welcome, networks: shown.view.networks, test: shown.view.test }, since: now, next: null };
}

// What an approval means, by its sentence: the sign, the sentence with the sum, and whether there is something to thank for. Where the view does not
// say what the card was asked for, the display does not say that money came.
function approval({ key, type, held }) {
  if (key === "refunded" || type === "refund") return { sign: "done", lines: ["refunded", "refunded.sum"] };
  if (key === "checked" || key === "cardSaved" || type === "verification") return { sign: "done", lines: [key === "cardSaved" ? key : "checked"] };
  const word = key === "sign" ? "sign" : null;
  if (key === "held" || held) return { sign: "later", lines: [word ?? "held", "held.sum"] };
  return type ? { sign: "good", lines: [word ?? "approved", "approved.sum", "thanks"] } : { sign: "done", lines: [word ?? "approved"] };
}

// What to show now: the lines as keys of the messages, and the parts of the view that may still be seen.
export function picture(shown, now, lostSince = null) {
  // A check of a card comes with an amount of nothing, which is not for paying.
  const view = shown.view.amount?.value > 0 ? shown.view : { ...shown.view, amount: undefined };
  const passed = now - shown.since;
  // The word for an address goes with its sale: while the next one waits nobody types any more.
  const receipt = shown.next ? undefined : view.receiptWord;
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
    case "idle": return { phase, lines: ["welcome"], networks: view.networks, test };
    case "ready": case "again": case "reading": {
      const line = phase === "reading" ? (shown.view.amount ? "hold" : "pass") : view.key;
      return { phase, lines: [line], amount: view.amount, ...whom, items: view.items, pending: view.pending, test, here: !["chip", "phone"].includes(line) };
    }
    case "processing": return { phase, lines: [view.key], amount: view.amount, ...whom, test, busy: view.key === "wait" || view.key === "pin" };
    case "link": return { phase, lines: [view.key], amount: view.amount, ...whom, items: view.items, pending: view.pending, qr: view.qr, test };
    case "approved": {
      const { sign, lines } = approval(view);
      return { phase, sign, lines: lines.filter((line) => view.amount || !line.endsWith(".sum")), sum: view.amount, qr: view.qr, receipt, test };
    }
    case "partial": {
      const line = view.type === "refund" ? "partial.refund" : view.held ? "partial.held" : "partial";
      return { phase, sign: "part", lines: [line], paid: view.paid, open: view.open, qr: view.qr, receipt, test };
    }
    case "declined": return { phase, sign: "bad", lines: ["declined", view.key === "chip" ? "chip" : "other"], test };
    case "stored": return { phase, sign: "later", lines: view.amount ? ["stored", "stored.sum"] : ["stored"], sum: view.amount, test };
    case "unknown": case "reversing": case "cancelled": case "failed": {
      const line = view.type === "refund" && ["unknown", "reversing"].includes(phase) ? `${phase}.refund` : phase;
      return { phase, sign: phase === "unknown" ? "doubt" : "none", lines: [line], test };
    }
    case "notReady":
      return { phase, lines: [view.key === "staff" || passed >= times.staffWhenNotReady ? "staff" : "notReady"], test, busy: true };
    default: return { phase: "offline", lines: [view.key === "staff" || passed >= times.staffAfterLoss ? "staff" : "notReady"], test };
  }
}
