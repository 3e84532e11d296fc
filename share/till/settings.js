// SPDX-License-Identifier: Apache-2.0
// Pairing, settings, terms, help: what is not a sale.
import { button, check, choice, field, h, show, taken } from "./view.js";
import { holdingDrawing, pinDrawing } from "./drawings.js";
import { tapBars } from "./ledger.js";
import { checked, direction, languages } from "./language.js";
import { parseAmount } from "./money.js";
import { whispers } from "./shop.js";

// The first screen of a new till or display: a code from the machine with the reader.
export function pairing(gateway, say, kind, whenPaired) {
  const code = h("input", { id: "code", autocomplete: "off", autocapitalize: "characters", spellcheck: false, maxLength: 20, "aria-describedby": "code-problem" });
  const trouble = h("p", { id: "code-problem", class: "problem", role: "alert" });
  const go = button(say("pair.do"), async () => {
    go.disabled = true;
    trouble.textContent = "";
    try {
      const paired = await gateway.pair(code.value.replace(/[\s-]/g, "").toUpperCase());
      code.value = "";
      return whenPaired(paired);
    } catch (failure) {
      trouble.textContent = failure.error ? `${failure.error.message}. ${failure.error.resolution ?? ""}` : say("till.offline");
    }
    go.disabled = false;
    code.focus();
  }, "primary wide");
  code.addEventListener("keydown", (event) => event.key === "Enter" && go.click());
  // A kiosk's address carries its code behind the number sign, where no server sees it; used or not, it does not stay there.
  const options = new URLSearchParams(location.hash.slice(1));
  if (options.has("code")) {
    code.value = options.get("code");
    options.delete("code");
    history.replaceState(null, "", `#${options}`);
    go.click();
  }
  return h("section", { class: "panel pairing" }, h("h1", { tabIndex: -1 }, say(`pair.${kind}`)),
    field(say("pair.code"), code), trouble, go,
    h("p", { class: "small" }, say("pair.how")), h("p", { class: "address" },
      kind === "display" ? "sudo nfc-tap-gateway pair --role display" : "sudo nfc-tap-gateway pair"));
}

export function settingsScreen(app) {
  const { shop, say, status } = app;
  const set = (changes) => { app.setShop(changes); app.render(true); };
  const own = Object.entries(languages);
  const unchecked = own.filter(([tag]) => [say.language, shop.customerLanguage, ...shop.languages].includes(tag) && !checked.includes(tag)).map(([, name]) => name);
  const text = (value, save, more = {}) => h("input", { value, ...more, onchange: (event) => save(event.target.value.trim()) });
  const toggles = ["tips", "donations", "cash", "implied", "passes", "sound", "aloudAmounts"];
  return h("section", { class: "panel settings" },
    h("h1", { tabIndex: -1 }, say("till.settings")),
    h("div", { class: "columns" },
      h("div", {},
        field(say("set.language"), choice(own, say.language, (language) => app.setLanguage(language))),
        field(say("set.customerLanguage"), choice(own, shop.customerLanguage ?? say.language, (customerLanguage) => set({ customerLanguage }))),
        unchecked.length > 0 && h("p", { class: "small" }, say("set.unchecked", { names: unchecked.join(", ") })),
        field(say("set.currency"), text(shop.currency, (currency) => /^[A-Za-z]{3}$/.test(currency) && set({ currency: currency.toUpperCase() }), { maxLength: 3 })),
        app.lanes().length > 1 && field(say("till.reader"), choice(app.lanes().map((lane) => [lane.name, app.laneName(lane)]), app.lane, (lane) => app.setLane(lane))),
        field(say("set.link"), text(shop.link, (link) => set({ link }), { placeholder: "https://pay.example/{order}?amount={amount}" })),
        field(say("set.cashiers"), text(shop.cashiers.join(", "), (names) => {
          const cashiers = [...new Set(names.split(/[,،、]/).map((name) => name.trim().slice(0, 32)).filter(Boolean))].slice(0, 20);
          set({ cashiers, cashier: cashiers.includes(shop.cashier) ? shop.cashier : null, taught: shop.taught.filter((name) => cashiers.includes(name)) });
        })),
        field(say("set.preferred"), text(shop.preferred, (preferred) => set({ preferred }), { placeholder: "A000000042" }))),
      h("div", {},
        toggles.map((name) => check(say(`set.${name}`), shop[name], (on) => set({ [name]: on }))),
        shop.tips && field(say("set.tipRates"), text(shop.tipRates.join(" "), (rates) => {
          const numbers = rates.split(/[\s,;%]+/).map((rate) => parseAmount(rate, "JPY")).filter((rate) => rate > 0 && rate <= 100).slice(0, 3);
          if (numbers.length) set({ tipRates: numbers });
        })),
        h("fieldset", {}, h("legend", {}, say("set.languages")), own.map(([tag, name]) => check(name, shop.languages.includes(tag), (on) => {
          const chosen = on ? [...shop.languages, tag].slice(0, 8) : shop.languages.filter((one) => one !== tag);
          set({ languages: chosen });
          whispers?.postMessage({ languages: chosen });
        }))))),
    status && termsPart(app),
    status?.networks?.length > 0 && h("p", {}, taken(say, status.networks)),
    h("div", { class: "actions" }, button(say("till.back"), () => app.goTo("compose"), "primary"),
      button(say("set.display"), () => window.open("/display/", "display", "popup"), "plain"),
      h("a", { class: "button plain", href: "/till/education.html" }, say("set.tutorial")),
      button(say("set.unpair"), () => app.unpair(), "plain danger")));
}

// Only an administrator accepts terms, at the machine; what is out of date is said first.
export function termsPart({ say, status }) {
  const { blocked, terms, termsPage } = status;
  const old = status.lanes.filter(({ notice }) => notice);
  return h("section", { class: "terms", id: "terms" },
    old.map(({ name, reader, notice }) => h("div", { class: "failure", dir: "auto" }, h("p", {}, h("bdi", {}, `${name} · ${reader.model} ${reader.firmware} < ${reader.minimumFirmware}`)),
      h("p", {}, notice.message), h("p", { class: "resolution" }, notice.resolution))),
    blocked && h("div", { class: "failure", dir: "auto" }, h("p", {}, blocked.message), h("p", { class: "resolution" }, blocked.resolution), h("p", { class: "small" }, blocked.code)),
    h("h2", {}, say("set.terms")),
    h("p", {}, say(`terms.${terms}`)),
    terms === "notAccepted" && h("p", {}, say("terms.admin", { command: "nfc-tap terms accept" })),
    termsPage && [h("p", {}, say("terms.elsewhere")), h("p", { class: "address" }, h("a", { href: termsPage, target: "_blank", rel: "noopener" }, termsPage))]);
}

// The tutorial for whoever is new at this till.
export function lesson(app, place) {
  const { say, shop } = app;
  const close = () => place.closest("dialog").close();
  show(place, h("h2", { id: "dialog-title" }, h("bdi", {}, shop.cashier)), h("p", {}, say("learn.offer")), h("div", { class: "actions" },
    button(say("set.tutorial"), () => app.learn(), "primary"), button(say("learn.later"), close, "plain")));
}

// As many bars as there are parts of the reader's last tap: with the help, for support.
function tapPart({ say }, tap) {
  const time = new Intl.NumberFormat(say.locale, { style: "unit", unit: "millisecond", maximumFractionDigits: 1 });
  const at = new Intl.DateTimeFormat(say.locale, { dateStyle: "short", timeStyle: "medium" }).format(new Date(tap.at));
  return [h("h3", {}, say("tap.title"), " · ", h("bdi", {}, at)), h("ul", { class: "tap" }, tapBars(tap).map(({ word, from, part, milliseconds }) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--from", from);
    bar.style.setProperty("--part", part);
    return h("li", {}, h("span", {}, say(word)), h("bdi", {}, time.format(milliseconds)), bar);
  }))];
}

export async function help(app, place, topic) {
  const { gateway, say, desk, status } = app;
  const close = h("div", { class: "actions" }, button(say("till.close"), () => place.closest("dialog").close(), "primary"));
  place.replaceChildren(h("h2", { id: "dialog-title" }, say("till.help")), close);
  let page, tap, topics = [];
  try {
    page = (await gateway.call("GET", `/v1/help/${topic}`)).body;
    topics = (await gateway.call("GET", "/v1/help")).body.topics;
    tap = (await gateway.call("GET", `/v1/lanes/${encodeURIComponent(app.lane)}`)).body.lastTap;
  } catch (failure) {
    page ??= { title: say("till.help"), text: [failure.error?.message ?? say("till.offline")], language: say.language };
  }
  const { error } = desk.sale.transaction ?? desk.sale;
  const support = { installation: status?.support, ...error?.support, transaction: desk.sale.transaction?.id ?? error?.support?.transaction };
  const reference = Object.entries({ code: error?.code, ...support }).filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`).join("\n");
  const copied = h("span", { role: "status" });
  show(place,
    h("div", { lang: page.language, dir: direction(page.language) }, h("h2", { id: "dialog-title" }, page.title), page.text.map((text) => h("p", {}, text)),
      page.readers?.length > 0 && h("ul", {}, page.readers.map((one) => h("li", {}, `${one.model}: ${one.hold}`, holdingDrawing(one.place, one.hold)))),
      topic === "pin" && h("div", {}, pinDrawing("terminal", say("chip")), pinDrawing("device", say("pin")))),
    h("h3", {}, say("till.support")),
    h("div", { class: "entry" }, h("pre", { class: "small" }, reference),
      button(say("till.copy"), () => navigator.clipboard?.writeText(reference).then(() => { copied.textContent = say("till.done"); }, () => {}), "plain"), copied),
    tap && tapPart(app, tap),
    topics.length > 0 && h("nav", { class: "topics", lang: page.language, dir: direction(page.language) }, topics.map((one) =>
      button(one.title, () => help(app, place, one.topic), "plain", { "aria-current": one.topic === topic ? "true" : null }))),
    close);
}
