// SPDX-License-Identifier: Apache-2.0
// What the cashier sees of a sale that runs or has ended. Nothing on these screens changes the sum.
import { amountText, button, columns, field, h, printOn, sign, sumSentence, svgImage } from "./view.js";
import { money } from "./money.js";
import { actOf, endKey, mayCancel, mayGoOn, mayPutAside, mayRepeat, mayStop, partOf, prompt, screenOf, sumKey } from "./sale.js";
import { addressOf } from "./ledger.js";
import { asideButtons, otherwayScreen, payLine, preparing } from "./compose.js";

const signs = { approved: "good", completed: "none", partial: "part", declined: "bad", unknown: "doubt", stored: "later", blocked: "doubt",
  failed: "none", cancelled: "none", reversing: "none", reversed: "none", refused: "none", notStarted: "none", paidBefore: "none" };

// Which of the service's help topics fits the screen.
export const helpTopic = (app) => {
  const screen = screenOf(app.desk.sale), type = app.type();
  if (screen === "declined" && app.desk.sale.transaction.result?.action === "useOtherTerminal") return "pin";
  return { armed: "holding", reading: "holding", failed: "retries", declined: "declined", unknown: "unknown", blocked: "unknown", stored: "queue",
    approved: "receipts", partial: "receipts", reversing: "unknown", reversed: "unknown" }[screen]
    ?? (app.status?.terms === "notAccepted" ? "terms" : { loyalty: "loyalty", verification: "checks" }[type] ?? "taps");
};

// The headline of a sale: the same word is shown, and spoken once.
export function headline(app) {
  const { say, desk } = app;
  const screen = screenOf(desk.sale);
  if (screen === "armed" || (screen === "reading" && prompt(desk.sale.transaction) !== "hold")) return say(type(app) === "loyalty" && prompt(desk.sale.transaction) === "hold" ? "pass" : prompt(desk.sale.transaction));
  if (screen === "authorising" && desk.sale.transaction?.state === "sealed") return say("pin");
  if (screen === "authorising" && desk.sale.cancelling) return say("till.stopping");
  if (screen === "link" && desk.sale.cancelling) return say("till.linkClosing");
  if (screen === "elsewhere") return say(desk.sale.cancelling ? "till.stopping" : "till.elsewhere");
  if (screen === "declined" && type(app) === "link") return say("till.linkClosed");
  if (screen === "refused" && desk.sale.error.code === "order.free") return say("till.free");
  return say(screen === "link" ? "till.linkOpen" : endKey(screen, actOf(desk.sale)));
}

// Only money that came has the sign and the ground of it.
const look = (screen, sale) => (screen === "approved" && actOf(sale) !== "sale" ? (actOf(sale) === "held" ? "stored" : "acted") : screen);
const lookSigns = { acted: "done", stored: "later" };

const type = (app) => app.type();

// What the card is asked for: a payment, or one of the reads whose words say nothing of paying.
function subject(app) {
  const { type, reason } = JSON.parse(app.desk.sale.request.body);
  const keys = { refund: "till.refund", loyalty: "till.passes", lookUp: "till.lookUp", saveCard: "till.saveCard", other: "till.verify" };
  return ["purchase", "link", "handover"].includes(type) ? payLine(app) : app.say(keys[reason ?? type]);
}

export function saleScreen(app) {
  const { desk, say } = app;
  const { sale } = desk;
  const screen = screenOf(sale);
  const amount = app.amount();
  const body = parts[screen]?.(app, sale) ?? [];
  const running = ["starting", "asking", "preparing", "armed", "reading", "authorising", "link", "elsewhere"].includes(screen);
  const showsAmount = running || screen === "unknown";
  const seen = look(screen, sale);
  return h("section", { class: `state ${seen}`, "aria-busy": String(["starting", "asking", "authorising"].includes(screen)) },
    showsAmount && h("div", { class: "total" }, h("span", {}, subject(app)), amount && amountText(money(amount, say.locale), "amount big")),
    h("div", { class: "headline" }, signs[screen] && sign(lookSigns[seen] ?? signs[screen]), screen === "link" && linkCode(app, sale.transaction), screen === "armed" && h("span", { class: "hold", "aria-hidden": "true" }),
      ["starting", "asking", "authorising"].includes(screen) && h("span", { class: "spinner", "aria-hidden": "true" }),
      endSum(app, sale), h("h1", { tabIndex: -1 }, headline(app)),
      h("div", { class: "facts" }, partPaid(app, sale), body, desk.trouble && failure(app, desk.trouble))),
    h("div", { class: "actions" }, actions(app, sale, screen)));
}

const fact = (label, value) => value && h("p", { class: "fact" }, h("span", {}, label), " ", h("bdi", {}, value));
const small = (text) => text && h("p", { class: "small" }, text);

function failure(app, error) {
  // The service's own words come in English where it has none of this language.
  return h("div", { class: "failure", dir: "auto" }, error.message && h("p", {}, error.message), error.resolution && h("p", { class: "resolution" }, error.resolution),
    error.limit && h("p", {}, amountText(money(error.limit, app.say.locale))), small(error.code));
}

// First of all on an end: the sum that came, that is held, that goes back or is charged later, with the word for it.
function endSum(app, sale) {
  const { transaction } = sale, screen = screenOf(sale);
  const key = { approved: sumKey(actOf(sale)), stored: "stored.sum" }[screen];
  const sum = key && (transaction.result?.amountApproved ?? transaction.settlement?.amount ?? transaction.amount), text = sum && money(sum, app.say.locale);
  return sum?.value > 0 && h("p", { class: "sum end-sum" }, sumSentence(app.say(key, { amount: text }), text));
}

const stillOpen = (app, amount) => h("p", { class: "fact open" }, h("span", {}, app.say("till.openAmount")), " ", amountText(money(amount, app.say.locale)));

// A rest that was not paid changes nothing of the part that was.
function partPaid(app, sale) {
  const part = partOf(sale);
  if (!part) return null;
  const whole = JSON.parse(part.body).amount, open = app.amount();
  return [fact(app.say({ refund: "till.refunded", held: "till.held" }[actOf({ request: part })] ?? "till.paid"), money({ value: whole.value - open.value, currency: open.currency }, app.say.locale)), stillOpen(app, open)];
}

const seconds = (name) => h("p", { class: "seconds", "data-seconds": name });

function passes(app, { loyalty }) {
  if (!loyalty) return null;
  return h("div", { class: "passes" }, h("h2", {}, app.say("till.passes")), loyalty.programmes.map((one) =>
    fact(one.displayName, one.pass?.member ?? app.say(one.status === "delivered" ? "till.passRead" : "till.noPass"))));
}

const cardOf = (card) => card && `${card.last4} (${card.scheme})`;
const paidCard = (app, { card, result, chip }) => [fact(app.say("till.cardNumber"), cardOf(card)), fact(app.say("till.approval"), result?.approvalCode),
  chip?.verification === "signature" && h("p", { class: "notice" }, app.say("till.sign"))];

// The code comes a moment after the address; what did not come is asked for again while the link is shown.
function linkCode(app, { id, link }) {
  const place = h("div", { class: "code" });
  const fill = async () => {
    if (app.code?.url !== link.url) {
      const { body } = await app.gateway.call("GET", `/v1/transactions/${id}/receipt.svg`, { accept: "image/svg+xml" });
      app.code = { url: link.url, svg: body };
    }
    place.replaceChildren(svgImage(app.code.svg, app.say("link"), "qr"));
  };
  const attempt = () => fill().catch(() => setTimeout(() => place.isConnected && attempt(), 3000));
  attempt();
  return place;
}

// What stands between headline and buttons.
const parts = {
  preparing: (app) => [preparing(app)],
  armed: (app) => [seconds("left"), fact(app.say("till.reader"), app.laneName(app.lanes().find((lane) => lane.name === app.desk.sale.transaction.lane)))],
  authorising: (app, sale) => [seconds("passed"), !mayStop(sale) ? null : h("p", { class: "small" }, app.say("till.stopText"))],
  link: (app, { transaction }) => [seconds("left"), h("p", {}, app.say("link.how")), h("p", { class: "address" }, transaction.link.url)],
  elsewhere: (app, { request }) => [seconds("passed"), fact(app.say("till.reader"), JSON.parse(request.body).to)],
  approved: (app, { transaction }) => [paidCard(app, transaction), passes(app, transaction),
    transaction.result?.repeats && h("p", { class: "notice" }, app.say("till.repeats"))],
  completed: (app, { transaction }) => passes(app, transaction),
  partial: (app, { request, transaction: { amount, result, ...rest } }) => [
    fact(app.say({ refund: "till.refunded", held: "till.held" }[actOf({ request, transaction: rest })] ?? "till.paid"), money(result.amountApproved, app.say.locale)),
    stillOpen(app, { value: amount.value - result.amountApproved.value, currency: amount.currency }),
    paidCard(app, { result, ...rest })],
  declined: (app, { transaction: { result, card, error } }) => [
    h("p", {}, app.say(result?.action === "useOtherTerminal" ? "chip" : `reason.${result?.reason ?? "notAccepted"}`)),
    mayGoOn(app.desk.sale, app.gateway.now()) && h("p", { class: "notice" }, app.say("till.readKept")), result?.action === "callIssuer" && h("p", { class: "notice" }, app.say("till.callIssuer")), fact(app.say("till.cardNumber"), cardOf(card)),
    error && failure(app, error), result?.responseCode && small(`${app.say("till.responseCode")} ${result.responseCode}`)],
  unknown: (app, sale) => [h("p", {}, app.say(actOf(sale) === "refund" ? "till.unknownHow.refund" : "till.unknownHow")), sale.transaction && seconds("passed"),
    small(sale.transaction?.id ?? sale.request.key)],
  reversing: (app, { transaction }) => [transaction.result?.reason && h("p", {}, app.say(`reason.${transaction.result.reason}`)), small(transaction.id)],
  reversed: (app, { transaction }) => [transaction.result?.reason && h("p", {}, app.say(`reason.${transaction.result.reason}`)), small(transaction.id)],
  stored: (app) => [h("p", {}, app.say("till.storedHow")), app.queue && fact(app.say("till.waiting"), `${app.queue.count} · `
    + app.queue.totals.map((one) => money(one, app.say.locale)).join(", "))],
  cancelled: (app, { transaction }) => [transaction.cancelledBy && h("p", {}, app.say(`by.${transaction.cancelledBy}`)), transaction.error && failure(app, transaction.error)],
  failed: (app, { transaction }) => [transaction.error && failure(app, transaction.error)],
  refused: (app, { error }) => [failure(app, error), ["terms.not_accepted", "terms.revoked"].includes(error.code) && h("p", { class: "notice" },
    app.say("terms.admin", { command: "nfc-tap terms accept" })), app.state === "preparing" && preparing(app)],
  blocked: (app, { error }) => [h("p", {}, app.say("till.unknownHow")), failure(app, error), small(error.transaction)],
  paidBefore: (app, { error }) => [failure(app, error), small(error.transaction)],
  notStarted: (app) => [h("p", {}, app.say("till.notStartedHow"))],
};

// One button for each entry of `next`, in its order; each does something.
function nextButtons(app, next) {
  const { say } = app;
  const acts = {
    retrySameCard: () => app.againByCard(), otherCard: () => app.againByCard(), otherInterface: () => app.openHelp("pin"),
    otherMethod: () => app.goTo("methods"), paymentLink: () => app.link(),
  };
  const places = app.terminals().map((name) => button([`${say("next.otherInterface")}: `, h("bdi", {}, name)], () => app.handOver(name), "plain"));
  return next.filter((step) => acts[step]).map((step) => step === "otherInterface" && places.length > 0 ? places : button(say(`next.${step}`), acts[step], "plain"));
}

function actions(app, sale, screen) {
  const { say, desk } = app;
  if (desk.away !== null) return [];
  const part = partOf(sale);
  const leave = part ? [say("till.back"), () => desk.restore(part)] : [say("till.newSale"), () => app.finish()];
  const newSale = (kind = "primary") => button(...leave, kind, kind === "primary" ? { id: "go" } : {});
  const next = sale.transaction?.result?.next ?? sale.transaction?.error?.next ?? sale.error?.next ?? [];
  const otherReader = app.lanes().length > 1 && button(say("next.otherReader"), () => app.goTo("lane"), "plain");
  const again = () => button(say("till.again"), () => app.again(), "plain");
  switch (screen) {
    case "starting": case "preparing": case "reading":
      return mayCancel(sale) && button(say("till.cancel"), () => app.cancel(), "plain", { id: "cancel" });
    case "armed":
      return mayCancel(sale) && [button(say("till.cancel"), () => app.cancel(), "plain", { id: "cancel" }),
        button(say("till.moreTime"), () => desk.do({ kind: "moreTime", key: desk.key() }), "plain", { "data-late": "", hidden: true })];
    case "link":
      return [button(say("till.aside"), () => app.putAside(), "plain"), button(say("till.copy"), () => navigator.clipboard?.writeText(sale.transaction.link.url), "plain"),
        button(say("till.receipt"), () => app.openReceipt(), "plain"), mayCancel(sale) && button(say("till.cancel"), () => app.cancel(), "plain", { id: "cancel" })];
    case "elsewhere":
      return [button(say("till.aside"), () => app.putAside(), "plain"), mayCancel(sale) && button(say("till.cancel"), () => app.cancel(), "plain", { id: "cancel" })];
    case "authorising": return mayStop(sale) && button(say("till.stop"), () => app.cancel(), "plain danger", { id: "cancel" });
    case "approved": case "completed":
      return [newSale(), screen === "approved" && button(say("till.receipt"), () => app.openReceipt(), "plain"),
        sale.transaction.result?.repeats && reverse(app)];
    case "partial":
      return [button(say("till.restCard"), () => desk.do({ kind: "rest", key: desk.key() }), "primary", { id: "go" }),
        // A customer who gets money back pays none.
        app.type() === "refund" ? newSale("plain") : app.shop.cash && button(say("till.restCash"), () => app.goTo("restCash"), "plain"), reverse(app),
        button(say("till.receipt"), () => app.openReceipt(), "plain")];
    case "stored": return [newSale(), button(say("till.declineStored"), () => desk.demand("decline"), "plain danger", { "data-until": "60" })];
    case "unknown":
      return [button(say("till.lookAgain"), () => desk.do({ kind: "look" }), "primary", { id: "go" }),
        mayPutAside(sale) && button(say("till.aside"), () => app.putAside(), "plain")];
    case "blocked":
      return [sale.error.transaction && button(say("till.lookAgain"), () => desk.do({ kind: "look" }), "primary", { id: "go" }), newSale("plain")];
    case "declined": case "failed":
      return [nextButtons(app, next), mayRepeat(sale) && !next.some((one) => ["retrySameCard", "otherCard"].includes(one))
        && (next.length === 0 || sale.transaction.error?.retryable) && again(), otherReader, newSale("plain")];
    case "cancelled": case "notStarted": case "refused":
      return [sale.error?.code === "refund.card_needed" && button(say("day.withCard"), () => app.againWithCard(), "primary", { id: "go" }), again(), sale.error?.code === "reader.busy" && asideButtons(app), next.length > 0 && nextButtons(app, next.filter((one) => !["retrySameCard", "otherCard"].includes(one))), otherReader,
        sale.error?.code?.startsWith("terms.") && button(say("set.terms"), () => app.goTo("settings"), "plain"), newSale("plain")];
    case "reversing": case "reversed": case "paidBefore": return newSale();
  }
  return [];
}

const reverse = (app) => button(app.say("till.reverse"), () => app.desk.demand("reversal", JSON.stringify({ reason: "customerCancel" })), "plain danger");

// Screens beside a sale that has ended: another way to pay for the same goods.
export function besideSale(app, place) {
  const { transaction } = app.desk.sale;
  // A part that is taken back is open again.
  const open = transaction?.result?.outcome === "partiallyApproved" && transaction.result.amountApproved
    ? { value: transaction.amount.value - transaction.result.amountApproved.value, currency: transaction.amount.currency } : app.amount();
  const others = app.methods().filter((one) => one !== "card");
  if (place === "restCash" || (place === "methods" && others.length === 1 && others[0] === "cash")) return otherwayScreen(app, "cash", open);
  if (place === "link") return otherwayScreen(app, "link", open);
  const tiles = {
    methods: () => [...others.map((one) => button(app.say(`till.${one}`), () => (one === "link" ? app.link() : app.goTo("restCash")), "tile")),
      button(app.say("next.otherInterface"), () => app.openHelp("pin"), "tile")],
    lane: () => app.lanes().map((lane) => button(app.laneName(lane), () => { app.setLane(lane.name); app.draft.place = "compose"; app.again(); }, "tile")),
  }[place];
  if (!tiles) return null;
  return h("section", { class: "panel" }, h("h1", { tabIndex: -1 }, app.say(place === "lane" ? "next.otherReader" : "next.otherMethod")), h("div", { class: "grid" }, tiles()),
    h("div", { class: "actions" }, button(app.say("till.back"), () => app.goTo("compose"), "plain")));
}

// The numbers that run, without building the screen anew.
export function tick(app, root) {
  const { desk, gateway, say } = app;
  const entered = Date.parse(desk.sale.transaction?.history?.at(-1)?.at ?? "");
  const passed = Math.max(0, Math.floor((gateway.now() - entered) / 1000));
  const until = desk.sale.transaction?.link ? Date.parse(desk.sale.transaction.link.expiresAt) : desk.until;
  const left = until === null ? null : Math.max(0, Math.ceil((until - gateway.now()) / 1000));
  for (const node of root.querySelectorAll("[data-seconds]")) {
    const isLeft = node.dataset.seconds === "left";
    if (isLeft && left === null) continue;
    node.textContent = isLeft ? say("till.left", { n: left }) : say("till.passed", { n: passed });
    node.classList.toggle("late", isLeft && left <= 20);
  }
  for (const node of root.querySelectorAll("[data-late]")) node.hidden = left === null || left > 20 || left === 0;
  for (const node of root.querySelectorAll("[data-until]")) node.hidden = passed >= Number(node.dataset.until);
}

// To the address that the customer says: it goes to the payment service, and stays neither here nor on this machine.
function sending(app, path) {
  const { gateway, say } = app;
  const told = h("p", { id: "address-told", role: "status" });
  const tell = (text, isDone = false) => {
    told.classList.toggle("problem", !isDone);
    told.textContent = text;
  };
  const address = h("input", { autocomplete: "off", autocapitalize: "none", spellcheck: "false", inputMode: "email", maxLength: 254, "aria-describedby": "address-told",
    oninput: () => tell(""), onkeydown: (event) => event.key === "Enter" && send() });
  const send = async () => {
    const wish = addressOf(address.value);
    if (!wish) {
      tell(say("entry.address"));
      return address.focus();
    }
    if (address.disabled) return undefined;
    address.disabled = true;
    try {
      await gateway.call("POST", path, { body: JSON.stringify(wish) });
      address.value = "";
      tell(say("receipt.sent"), true);
    } catch (failure) {
      tell(failure.error?.message ?? say("till.offline"));
    }
    address.disabled = false;
    return undefined;
  };
  return h("div", { class: "no-print" }, h("div", { class: "entry" }, field(say("receipt.address"), address), button(say("receipt.send"), send, "plain")), told);
}

// The receipt by code, by an address, on this page, or by the printer of this machine.
export async function receipt(app, place, transaction) {
  const { gateway, say } = app;
  const path = `/v1/transactions/${transaction.id}/receipt`;
  const code = h("div", { class: "code" }), paper = h("pre", { class: "paper", tabIndex: 0, "aria-label": say("till.receipt") });
  const fill = async (copy) => {
    try {
      printOn(paper, await gateway.call("GET", `${path}?copy=${copy}&width=${columns()}`, { accept: "text/plain" }));
    } catch (failure) {
      printOn(paper, { body: failure.error?.message ?? say("till.offline"), language: say.language });
    }
  };
  place.replaceChildren(h("h2", { id: "dialog-title" }, say("till.receipt")), h("div", { class: "receipt" }, code, paper),
    app.status?.sendsReceipts && !transaction.link ? sending(app, path) : "", h("div", { class: "actions no-print" },
    button(say("till.print"), () => window.print(), "primary"),
    button(say("till.merchantCopy"), () => fill("merchant"), "plain"), button(say("till.customerCopy"), () => fill("customer"), "plain"),
    button(say("till.close"), () => place.closest("dialog").close(), "plain")));
  await fill("customer");
  const scan = transaction.link ? "link" : "receipt";
  if (!transaction.link && !transaction.result?.receiptURL) return;
  try {
    const { body } = await gateway.call("GET", `${path}.svg`, { accept: "image/svg+xml" });
    code.replaceChildren(svgImage(body, say(scan), "qr"), h("p", {}, say(scan)));
  } catch { /* the paper is there */ }
}
