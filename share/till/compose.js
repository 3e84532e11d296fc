// SPDX-License-Identifier: Apache-2.0
// Everything that decides the sum, before a card is asked for: lines, tip, donation, method, reader.
import { amountText, button, check, choice, field, h, lineLabel } from "./view.js";
import { actOf, endKey } from "./sale.js";
import { decimalsOf, largest, money, parseAmount, percentOf, sum } from "./money.js";

export const emptyDraft = () => ({ lines: [], entry: "", label: "", kind: "charge", frequency: "monthly", begins: "", code: "", tip: null, donation: null,
  order: null, amountStatus: "final", place: "compose", consent: "", other: "" });

const discounts = new Set(["discount", "coupon"]);
// What is typed as a discount takes from the sum, with or without its sign.
function entered({ draft, shop }) {
  const value = draft.entry.trim() ? parseAmount(draft.entry, shop.currency, shop.implied) : 0;
  return discounts.has(draft.kind) && value > 0 ? -value : value;
}

// What the line that is being typed lacks beside its amount.
function lineProblem({ draft }, value) {
  if (draft.kind === "coupon" && value && !draft.code.trim()) return "entry.coupon";
  return draft.kind === "recurring" && value === 0 && !draft.begins ? "entry.begins" : null;
}

function lineOf(app, value) {
  const { label, kind, frequency, begins, code } = app.draft;
  const named = label.trim() || app.say(`kind.${kind}`), sign = kind === "coupon" ? ` ${code.trim()}` : "";
  const line = { label: named.slice(0, 32 - sign.length).trim() + sign, amount: { value, currency: app.shop.currency } };
  if (kind !== "charge") line.kind = kind === "coupon" ? "discount" : kind;
  if (kind === "recurring") line.frequency = frequency;
  if (["recurring", "deferred"].includes(kind) && begins) line.begins = begins;
  return line;
}

// All lines of the sale, with tip and donation; what was typed last counts without "Add line".
export function lines(app) {
  const { draft, shop, say } = app;
  const value = entered(app);
  const all = [...draft.lines];
  if (value || (value === 0 && draft.entry.trim() && draft.kind === "recurring")) all.push(lineOf(app, value));
  if (draft.tip) all.push({ label: say("till.tip"), amount: { value: draft.tip, currency: shop.currency } });
  if (draft.donation) all.push({ label: say("kind.donation"), amount: { value: draft.donation, currency: shop.currency }, kind: "donation" });
  return all;
}

export const total = (app) => ({ value: sum(lines(app)), currency: app.shop.currency });

// What keeps the sale from going on: a key of the messages, or null.
export function problem(app) {
  const { draft } = app;
  if (entered(app) === null) return "entry.unclear";
  const { value } = total(app);
  if (value > largest) return "entry.tooLarge";
  if (value <= 0) return draft.entry || draft.lines.length ? "entry.notPositive" : "entry.missing";
  return lineProblem(app, entered(app));
}

// `to`: the terminal that takes it, with a hand-over.
export function members(app, type = "purchase", to) {
  const { draft, shop, lane } = app;
  const base = { type, lane, language: app.customerLanguage };
  if (type === "loyalty") return { ...base, loyalty: {} };
  if (["lookUp", "saveCard", "other"].includes(type)) {
    const consent = type === "saveCard" ? { consent: draft.consent.trim() } : {};
    return { ...base, type: "verification", currency: shop.currency, reason: type, ...consent };
  }
  const all = lines(app);
  const made = { ...base, amount: total(app) };
  if (all.length > 1 || all[0]?.kind || draft.label.trim()) made.items = all;
  if (["link", "handover"].includes(type)) return { type, to, language: base.language, amount: made.amount };
  if (type !== "purchase") return made;
  if (draft.amountStatus !== "final") made.amountStatus = draft.amountStatus;
  const preferred = shop.preferred.split(/[\s,]+/).filter(Boolean);
  if (preferred.length && !draft.cardsChoice) made.preferredApplications = preferred;
  if (shop.passes && app.offers("loyalty")) made.loyalty = {};
  return made;
}

export function lineList(app, all, remove) {
  const { say } = app;
  return h("ul", { class: "lines" }, all.slice(0, 8).map((line, place) => h("li", {},
    lineLabel(say, line),
    amountText(money(line.amount, say.locale)),
    remove && place < app.draft.lines.length && button("×", () => remove(place), "small", { "aria-label": `${say("till.remove")}: ${line.label}` }))),
    all.length > 8 && h("li", { class: "more" }, say("till.moreLines", { n: all.length - 8 })));
}

// Sales in doubt, and such as can be paid elsewhere, that were put aside for the next customer: the sum is what the cashier remembers of them.
const ends = new Set(["approved", "declined", "cancelled", "failed", "partial", "reversing", "reversed"]);
const elsewhere = { link: "till.link", handover: "till.elsewhere" };
export const asideButtons = (app) => app.desk.aside.map((one) => {
  const { amount, type } = JSON.parse(one.body), end = app.desk.endOf(one.key), isOver = ends.has(end);
  const key = isOver ? endKey(end, actOf({ request: one })) : elsewhere[type] ?? "till.unresolved";
  return button([`${app.say(key)}: `, amount && amountText(money(amount, app.say.locale)), " · ", h("bdi", {}, one.order ?? one.key)], () => app.openAside(one),
    `aside-sale ${isOver || elsewhere[type] ? "plain" : "doubtful"}`);
});

export const payLine = (app) => (app.payee ? app.say("pay", { merchant: app.payee }) : app.say("till.amount"));

export function composeScreen(app) {
  const { draft, say, shop } = app;
  const input = h("input", { id: "entry", inputMode: "decimal", autocomplete: "off", "aria-describedby": "entry-problem", value: draft.entry,
    oninput: (event) => { draft.entry = event.target.value; update(); } });
  const sumText = amountText("", "amount big");
  const trouble = h("p", { id: "entry-problem", class: "problem", role: "alert" });
  // Never grey: what is missing is said once it is pressed.
  const go = button(say("till.continue"), () => {
    const missing = problem(app);
    if (!missing) return app.proceed();
    trouble.textContent = say(missing);
    input.focus();
    return undefined;
  }, "primary wide", { id: "go" });
  const type = (text) => {
    draft.entry = text === "⌫" ? draft.entry.slice(0, -1) : text === "±" ? (draft.entry.startsWith("-") ? draft.entry.slice(1) : `-${draft.entry}`)
      : draft.entry + text;
    input.value = draft.entry;
    update();
  };
  const point = decimalsOf(shop.currency) === 0 ? "000" : new Intl.NumberFormat(say.locale).formatToParts(1.5).find((part) => part.type === "decimal").value;
  const add = () => {
    const value = entered(app);
    if (value === null || (value === 0 && draft.kind !== "recurring") || draft.lines.length > 60) return;
    const missing = lineProblem(app, value);
    if (missing) {
      trouble.textContent = say(missing);
      return;
    }
    draft.lines.push(lineOf(app, value));
    Object.assign(draft, { entry: "", label: "", kind: "charge", code: "", begins: "" });
    app.render(true);
  };
  const names = { "⌫": "till.erase", "±": "till.minus", "+": "till.add" };
  const keys = ["7", "8", "9", "⌫", "4", "5", "6", "±", "1", "2", "3", "+", "0", "00", point].map((text) =>
    button(text, () => (text === "+" ? add() : type(text)), `key${text === "+" ? " tall" : ""}`, { "aria-label": names[text] ? say(names[text]) : null }));
  const list = h("div", { class: "bill-lines" });
  function update() {
    const all = lines(app), wrong = problem(app);
    sumText.textContent = money(entered(app) === null ? { value: sum(draft.lines), currency: shop.currency } : total(app), say.locale);
    list.replaceChildren(draft.lines.length ? lineList(app, all, (place) => { draft.lines.splice(place, 1); app.render(true); }) : "");
    const silent = !wrong || wrong === "entry.missing";
    trouble.textContent = silent ? "" : say(wrong);
    input.setAttribute("aria-invalid", String(!silent));
  }
  update();
  const kinds = ["charge", "discount", "coupon", "donation", "recurring", "deferred"].map((kind) => [kind, say(`kind.${kind}`)]);
  return h("section", { class: "compose" },
    h("div", { class: "bill" },
      h("div", { class: "aside", id: "aside" }, asideButtons(app)),
      h("div", { class: "bill-scroll" }, list,
        h("details", { class: "line-details", open: draft.label || draft.kind !== "charge" }, h("summary", {}, say("till.lineDetails")),
        field(say("till.label"), h("input", { maxLength: 32, value: draft.label, oninput: (event) => { draft.label = event.target.value; } })),
        field(say("till.kind"), choice(kinds, draft.kind, (kind) => { draft.kind = kind; app.render(true); })),
        draft.kind === "coupon" && field(say("till.couponCode"), h("input", { maxLength: 20, autocomplete: "off", value: draft.code, oninput: (event) => { draft.code = event.target.value; update(); } })),
        draft.kind === "recurring" && field(say("till.frequency"), choice(["weekly", "monthly", "yearly"].map((one) => [one, say(`every.${one}`)]), draft.frequency,
          (one) => { draft.frequency = one; })),
        ["recurring", "deferred"].includes(draft.kind) && [
          field(say(draft.kind === "deferred" ? "till.due" : "till.begins"), h("input", { type: "date", value: draft.begins, oninput: (event) => { draft.begins = event.target.value; update(); } }))])),
      h("div", { class: "total" }, h("h1", { class: "quiet", tabIndex: -1 }, payLine(app)), sumText),
      h("div", { class: "actions" }, go, button(say("till.more"), () => app.goTo("more"), "plain"))),
    h("div", { class: "pad" },
      h("div", { class: "entry" }, field(say("till.amount"), input)),
      trouble,
      h("div", { class: "keypad" }, keys)));
}

const headed = (app, title, amount, note) => h("div", { class: "total" }, h("h1", { tabIndex: -1 }, title), amountText(money(amount, app.say.locale), "amount big"), note);

// Tip or donation: what was chosen goes into the sum before the next screen.
export function extraScreen(app, what) {
  const { draft, say, shop } = app;
  draft[what] = null;
  const base = total(app);
  const own = h("input", { inputMode: "decimal", autocomplete: "off", "aria-describedby": "own-problem" });
  const trouble = h("p", { id: "own-problem", class: "problem" });
  const take = (value) => { draft[what] = value; app.proceed(what); };
  const takeOwn = () => {
    const value = parseAmount(own.value, shop.currency, shop.implied);
    if (value > 0 && base.value + value <= largest) take(value);
    else trouble.textContent = say("entry.unclear");
  };
  const unit = 10 ** decimalsOf(shop.currency);
  const offers = what === "tip" ? shop.tipRates.map((rate) => [new Intl.NumberFormat(say.locale, { style: "percent" }).format(rate / 100), percentOf(base, rate).value]) : [1, 2, 5].map((count) => ["", count * unit]);
  return h("section", { class: "panel extra" },
    headed(app, say(what === "tip" ? "till.tip" : "kind.donation"), base),
    h("div", { class: "grid" }, offers.map(([name, value]) => button([name && h("span", {}, name), amountText(money({ value, currency: shop.currency }, say.locale))],
      () => take(value), "tile"))),
    h("div", { class: "entry" }, field(say("till.otherAmount"), own), button(say("till.continue"), takeOwn, "plain")), trouble,
    h("div", { class: "actions" }, button(say(what === "tip" ? "till.noTip" : "till.noDonation"), () => take(null), "primary", { id: "go" }),
      button(say("till.back"), () => app.goTo("compose"), "plain")));
}

// Total, methods, reader: the last screen before the card.
export function confirmScreen(app) {
  const { draft, say, shop } = app;
  const lanes = app.lanes();
  const statuses = ["final", "pending", "preauthorized"].map((one) => [one, say(`status.${one}`)]);
  return h("section", { class: "panel confirm" },
    headed(app, payLine(app), total(app), draft.amountStatus !== "final" && h("span", { class: "badge" }, say("pending"))),
    lines(app).length > 1 && lineList(app, lines(app)),
    app.state === "preparing" && preparing(app),
    h("div", { class: "methods" },
      button(say("till.card"), () => app.sell("purchase"), "primary card", { id: "go" }),
      app.methods().filter((one) => one !== "card").map((one) => button(say(`till.${one}`), () => (one === "link" && app.mayOpenLinks ? app.sell("link") : app.goTo(one)), "method")),
      app.otherTerminals().map((name) => button(say("till.otherTerminal", { name }), () => app.sell("handover", name), "method"))),
    h("div", { class: "options" },
      lanes.length > 1 && field(say("till.reader"), choice(lanes.map((lane) => [lane.name, app.laneName(lane)]), app.lane, (lane) => app.setLane(lane))),
      field(say("till.amountKind"), choice(statuses, draft.amountStatus, (one) => { draft.amountStatus = one; app.render(true); })),
      shop.preferred && check(say("till.cardsChoice"), draft.cardsChoice, (on) => { draft.cardsChoice = on; })),
    h("div", { class: "actions" }, button(say("till.back"), () => app.goTo("compose"), "plain")));
}

export function preparing(app) {
  return h("div", { class: "preparing" }, h("span", {}, app.say("till.preparing"), app.percent ? ` ${app.percent} %` : ""),
    h("progress", { max: 100, value: app.percent ?? undefined, "aria-label": app.say("till.preparing") }));
}

// Money by another way: nothing is sent anywhere.
export function otherwayScreen(app, way, amount) {
  const { say, shop } = app;
  const link = shop.link.replaceAll("{amount}", encodeURIComponent(amount.value)).replaceAll("{currency}", amount.currency)
    .replaceAll("{order}", encodeURIComponent(app.order()));
  const usable = /^https:\/\//.test(link);
  return h("section", { class: "panel otherway" },
    headed(app, say(`till.${way}`), amount),
    h("p", {}, say(way === "link" && !usable ? "till.linkMissing" : `${way}.how`)),
    way === "link" && usable && h("p", { class: "address" }, link),
    h("div", { class: "actions" },
      way === "link" && usable && button(say("till.copy"), () => navigator.clipboard?.writeText(link), "plain"),
      way === "link" && usable && button(say("till.open"), () => window.open(link, "_blank", "noopener"), "plain"),
      button(say("till.done"), () => app.finish(), "primary", { id: "go" }), button(say("till.back"), () => app.goTo(app.desk.sale.request ? "compose" : "confirm"), "plain")));
}

// Reads without a payment: their words say nothing of paying.
export function moreScreen(app) {
  const { draft, say } = app;
  const tile = (key, kind, act) => button(say(key), act, `tile ${kind}`);
  const trouble = h("p", { id: "more-problem", class: "problem", role: "alert" });
  const consent = h("input", { value: draft.consent, maxLength: 200, "aria-describedby": "more-problem", oninput: (event) => { draft.consent = event.target.value; trouble.textContent = ""; } });
  const store = tile("till.saveCard", "read", () => {
    if (draft.consent.trim()) return app.sell("saveCard");
    trouble.textContent = say("entry.consent");
    return consent.focus();
  });
  const verification = app.offers("verification");
  return h("section", { class: "panel more" },
    h("h1", { tabIndex: -1 }, say("till.more")),
    h("div", { class: "grid" },
      app.offers("loyalty") && tile("till.passes", "pass", () => app.sell("loyalty")),
      verification && tile("till.lookUp", "read", () => app.sell("lookUp")),
      verification && tile("till.verify", "read", () => app.sell("other")),
      app.offers("refund") && tile("till.refund", "refund", () => (app.isManager ? app.sell("refund") : app.openDay("day.needsSale")))),
    verification && [h("div", { class: "entry" }, field(say("till.consent"), consent), store), trouble],
    h("div", { class: "actions" }, button(say("till.back"), () => app.goTo("compose"), "plain")));
}

// The screens before the card, by name.
export const places = {
  compose: composeScreen, tip: (app) => extraScreen(app, "tip"), donation: (app) => extraScreen(app, "donation"), confirm: confirmScreen, more: moreScreen,
  cash: (app) => otherwayScreen(app, "cash", total(app)), link: (app) => otherwayScreen(app, "link", total(app)),
};
