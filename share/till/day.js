// SPDX-License-Identifier: Apache-2.0
// The shop's day on the cashier's screen: sums and what is open, the list of sales, one sale with its acts, the end of the day.
import { amountText, button, columns, field, h, printOn } from "./view.js";
import { money, parseAmount, plain } from "./money.js";
import { acts, demandOf, sums, todoKey, todoOf, totalsOf, wordsOf } from "./ledger.js";

const instant = (app, at, options) => new Intl.DateTimeFormat(app.say.locale, options).format(new Date(at));
const dayAndTime = (app, at) => instant(app, at, { dateStyle: "short", timeStyle: "short" });
const cash = (app, value, currency) => amountText(money({ value, currency }, app.say.locale));
const fact = (label, value) => value && h("p", { class: "fact" }, h("span", {}, label), " ", typeof value === "string" ? h("bdi", {}, value) : value);
// As a person types it.
const typed = (app, value, currency) => plain({ value, currency }).replace(".", new Intl.NumberFormat(app.say.locale).formatToParts(1.5).find((part) => part.type === "decimal").value);
const cardOf = ({ card }) => card && `${card.last4} (${card.scheme})`;
// What became of it first, else what was asked for.
const mainSum = (sale) => (sums(sale).length ? { value: sums(sale)[0].value, currency: sale.account.currency } : sale.amount);
const words = (app, sale) => wordsOf(sale).map((key) => app.say(key)).join(" · ");
const back = (app, place, kind = "plain") => button(app.say("till.back"), () => { app.book.forget(); app.goTo(place); }, kind);

// What the last press has come to: a sentence of the till, or the service's own words.
function told(app) {
  const { book, say } = app, { trouble, note } = book;
  return h("div", { class: "told", id: "told", role: "alert", dir: "auto" },
    note && h("p", { class: "notice" }, say(note, { command: app.command(note) })),
    trouble && h("div", { class: "failure" }, h("p", {}, trouble.message ?? say("till.offline")), trouble.resolution && h("p", { class: "resolution" }, trouble.resolution),
      trouble.limit && h("p", {}, cash(app, trouble.limit.value, trouble.limit.currency)), trouble.code && trouble.message && h("p", { class: "small" }, trouble.code),
      trouble.transaction && trouble.transaction !== book.shown?.id && button(say("till.open"), () => app.openSale(trouble.transaction), "plain")));
}

const tell = (app, note) => {
  app.book.note = note;
  app.render(true);
};

function totals(app) {
  const { totals } = app.book;
  if (!totals) return null;
  return totalsOf(totals).map(({ currency, net, rows }) => h("table", { class: "sums" },
    h("tbody", {}, rows.map(({ word, count, value }) => h("tr", {}, h("th", { scope: "row" }, app.say(word)), h("td", {}, String(count)), h("td", {}, cash(app, value, currency))))),
    h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, app.say("day.net")), h("td", {}), h("td", {}, cash(app, net, currency))))));
}

// Everything that has not ended, holds a sum or needs a person, with what to do: the same as in the report.
function openList(app) {
  const { book: { totals }, say } = app;
  if (!totals) return null;
  const days = (totals.days ?? []).map((day) => h("li", {}, h("p", { class: "notice" }, `${say("day.report", { number: day.number })}: ${say("open.day")}`)));
  return [h("h2", {}, `${say("word.open")}: ${totals.openCount + days.length}`), totals.open.length + days.length > 0 && h("ul", { class: "rows" }, totals.open.map((one) => h("li", {},
    button([h("span", { class: "label" }, one.number === undefined ? "" : h("bdi", {}, String(one.number)), " ", say(todoKey(one.kind), { time: one.before ? dayAndTime(app, one.before) : "–" })),
      cash(app, one.amount.value, one.amount.currency)], () => app.openSale(one.transaction), "row"))), days)];
}

const row = (app, sale) => h("li", {}, button([
  h("span", { class: "label" }, [h("bdi", {}, String(sale.number ?? "")), h("bdi", {}, instant(app, sale.createdAt, sale.createdAt < (app.book.totals?.day?.openedAt ?? "") ? { dateStyle: "short", timeStyle: "short" } : { timeStyle: "short" })),
    sale.order && h("bdi", {}, sale.order), sale.card && h("bdi", {}, cardOf(sale))].filter(Boolean).flatMap((part, place) => (place ? [" · ", part] : [part]))),
  h("span", { class: "words" }, words(app, sale)), mainSum(sale) && cash(app, mainSum(sale).value, mainSum(sale).currency)], () => app.openSale(sale.id), "row"));

export function dayScreen(app) {
  const { book, draft, say, shop } = app;
  const input = h("input", { id: "find", autocomplete: "off", value: draft.find ?? "", oninput: (event) => { draft.find = event.target.value; } });
  return h("section", { class: "panel day", "aria-busy": String(book.isBusy) },
    h("h1", { tabIndex: -1 }, say("day.title")), told(app),
    h("div", { class: "columns" },
      h("div", {}, book.totals?.day && h("h2", {}, say("day.sums", { time: dayAndTime(app, book.totals.day.openedAt) })), totals(app), openList(app)),
      h("div", {}, h("div", { class: "entry" }, field(say("day.find"), input), button(say("day.findDo"), () => book.find(draft.find ?? "", shop.currency), "plain", { id: "go" })),
        book.sales.length ? h("ul", { class: "rows" }, book.sales.map((sale) => row(app, sale))) : !book.isBusy && h("p", {}, say("day.none")),
        h("div", { class: "actions" }, book.next && button(say("day.older"), () => book.older(), "plain"),
          book.isFound && button(say("day.all"), () => { draft.find = ""; book.load(); }, "plain")))),
    h("div", { class: "actions" }, back(app, "compose", "primary"),
      button(say("day.end"), () => (app.isManager ? (app.goTo("end"), book.toEnd()) : tell(app, "day.needsManager")), "plain")));
}

const names = { capture: "day.capture", adjust: "day.adjust", release: "day.release", refund: "till.refund", reverse: "till.reverse" };
const calls = { capture: "captures", adjust: "adjustments", release: "releases" };

export function oneScreen(app) {
  const { book, say } = app, sale = book.shown;
  if (!sale) return h("section", { class: "panel day" }, h("h1", { tabIndex: -1 }, say("day.title")), told(app), h("div", { class: "actions" }, back(app, "day", "primary")));
  const { account, result } = sale, left = !book.isBusy && book.unfinished(sale.id), currency = account?.currency;
  const press = ({ name, missing }) => {
    book.forget();
    if (missing) return tell(app, missing);
    if (name === "reverse") return book.reverse(sale.id);
    Object.assign(app.draft, { act: name, actAmount: null, actTip: "" });
    return app.goTo("act");
  };
  return h("section", { class: "panel day", "aria-busy": String(book.isBusy) },
    h("div", { class: "total" }, h("h1", { tabIndex: -1 }, words(app, sale)), mainSum(sale) && amountText(money(mainSum(sale), say.locale), "amount big")), told(app),
    left && h("div", { class: "failure" }, h("p", { class: "notice" }, say("day.unfinished", { act: say(names[Object.keys(calls).find((one) => calls[one] === left.call)]) })),
      button(say("day.again"), () => book.perform(sale.id), "primary", { id: "go" })),
    h("div", { class: "facts" },
      fact(say("day.number"), String(sale.number ?? "")), fact(say("day.order"), sale.order), fact(say("day.time"), dayAndTime(app, sale.createdAt)),
      fact(say("till.cardNumber"), cardOf(sale)), fact(say("till.approval"), result?.approvalCode),
      sums(sale).map(({ word, value }) => fact(say(word), cash(app, value, currency))),
      account?.before && account.remaining > 0 && fact(say("day.until"), dayAndTime(app, account.before)),
      book.operations.map((one) => fact(say(names[{ capture: "capture", adjustment: "adjust", release: "release" }[one.kind]]), [one.amount && cash(app, one.amount.value, one.amount.currency), " ",
        one.tip && [h("span", {}, say("till.tip")), " ", cash(app, one.tip.value, one.tip.currency), " "],
        say(one.state === "done" ? "till.done" : one.state === "refused" ? "day.declined" : "open.wait")])),
      wordsOf(sale)[0] === "word.open" && todoOf(sale) && h("p", { class: "notice" }, say(todoOf(sale)))),
    h("div", { class: "actions" }, acts(sale, app.till?.types ?? []).map((one) => button(say(names[one.name]), () => press(one), one.name === "reverse" ? "plain danger" : "plain")),
      button(say("till.receipt"), () => app.openReceipt(sale), "plain")),
    h("div", { class: "actions" }, back(app, "day", left ? "plain" : "primary")));
}

// The sum of an act, and what would become of the rest, before anything is sent.
export function actScreen(app) {
  const { book, draft, say, shop } = app, sale = book.shown, { account } = sale, { currency } = account, act = draft.act;
  const limit = { capture: account.capturableUpTo, refund: account.refundable }[act] ?? 0;
  const begin = { capture: account.remaining, adjust: account.remaining, refund: account.refundable }[act];
  draft.actAmount ??= begin === undefined ? "" : typed(app, begin, currency);
  const trouble = h("p", { class: "problem", id: "act-problem", role: "alert" }), rest = h("p", {});
  const read = () => demandOf(act, { amount: draft.actAmount, tip: draft.actTip }, currency, shop.implied, limit);
  const input = (name, more = {}) => h("input", { inputMode: "decimal", autocomplete: "off", value: draft[name], "aria-describedby": "act-problem",
    oninput: (event) => { draft[name] = event.target.value; update(); }, ...more });
  const sumText = amountText("", "amount big");
  const go = button(say(names[act]), () => {
    const { demand, wrong } = read();
    if (wrong) {
      trouble.textContent = say(wrong, { amount: money({ value: limit, currency }, say.locale) });
      return;
    }
    if (act === "refund") return app.refundSale(sale, demand.amount);
    app.goTo("sale");
    book.perform(sale.id, calls[act], demand);
  }, "primary wide", { id: "go" });
  function update() {
    const { total } = read(), value = act === "release" ? account.remaining : total;
    trouble.textContent = "";
    sumText.textContent = value === undefined ? "" : money({ value, currency }, say.locale);
    const open = act === "capture" && value !== undefined ? account.remaining - value : 0;
    rest.textContent = act === "release" ? say("day.releaseHow") : act === "refund" ? say("day.refundHow") : open > 0 ? say("day.rest", { amount: money({ value: open, currency }, say.locale) }) : "";
  }
  update();
  return h("section", { class: "panel day act" },
    h("div", { class: "total" }, h("h1", { tabIndex: -1 }, say(names[act])), sumText),
    fact(say("till.cardNumber"), cardOf(sale)), fact(say("day.order"), sale.order),
    act !== "release" && field(say(act === "adjust" ? "day.sumHeld" : "till.amount"), input("actAmount", { id: "entry" })),
    act === "capture" && [field(say("till.tip"), input("actTip", { id: "tip" })), h("div", { class: "actions" }, shop.tipRates.map((rate) =>
      button(new Intl.NumberFormat(say.locale, { style: "percent" }).format(rate / 100), () => {
        const bill = parseAmount(draft.actAmount, currency, shop.implied);
        if (bill > 0) draft.actTip = typed(app, Math.floor((bill * rate + 50) / 100), currency);
        app.render(true);
      }, "plain")))],
    trouble, rest, h("div", { class: "actions" }, go, back(app, "sale")));
}

export function endScreen(app) {
  const { book, say } = app, left = !book.isBusy && book.unfinishedDay;
  const close = async () => {
    const number = await book.closeDay();
    if (number !== null) app.openReport(number);
  };
  return h("section", { class: "panel day", "aria-busy": String(book.isBusy) },
    h("h1", { tabIndex: -1 }, say("day.end")), told(app), h("p", {}, say("day.endHow")),
    left && h("p", { class: "notice" }, say("day.unfinished", { act: say("day.end") })),
    h("div", { class: "columns" }, h("div", {}, totals(app)), h("div", {}, openList(app))),
    h("div", { class: "actions" }, button(say(left ? "day.again" : "day.endDo"), () => !book.isBusy && close(), "primary wide", { id: "go" }),
      button(say("till.back"), () => { book.leaveEnd?.(); book.forget(); app.goTo("day"); book.load(); }, "plain")),
    book.days.length > 0 && [h("h2", {}, say("day.reports")), h("div", { class: "actions" }, book.days.map((day) =>
      button([say("day.report", { number: day.number }), day.label && [" · ", h("bdi", {}, day.label)]], () => app.openReport(day.number, true), "plain")))]);
}

// The report of a day as the printer of this machine prints it.
export async function report(app, place, number, isCopy) {
  const { say, book } = app;
  const paper = h("pre", { class: "paper", tabIndex: 0, "aria-label": say("day.report", { number }) });
  place.replaceChildren(h("h2", { id: "dialog-title" }, say("day.report", { number })), h("div", { class: "receipt" }, paper), h("div", { class: "actions no-print" },
    button(say("till.print"), () => window.print(), "primary"), button(say("till.close"), () => place.closest("dialog").close(), "plain")));
  try {
    printOn(paper, await book.report(number, isCopy, columns()));
  } catch (failure) {
    printOn(paper, { body: failure.error?.message ?? say("till.offline"), language: say.language });
  }
}

export const dayPlaces = { day: dayScreen, sale: oneScreen, act: actScreen, end: endScreen };
