// SPDX-License-Identifier: Apache-2.0
// The cashier's page: which screen is shown, what is spoken, and what keys do.
import { App } from "./app.js";
import { Gateway } from "./gateway.js";
import { mayCancel, mayStop, screenOf } from "./sale.js";
import { button, choice, dress, show, speak, stayAwake } from "./view.js";
import { asideButtons, places } from "./compose.js";
import { besideSale, headline, helpTopic, receipt, saleScreen, tick } from "./screens.js";
import { dayPlaces, report } from "./day.js";
import { help, lesson, pairing, settingsScreen } from "./settings.js";
import { play, wake } from "./sound.js";

const $ = (id) => document.getElementById(id);
const gateway = new Gateway("nfc-tap.token", () => { gateway.token = null; location.reload(); });
const app = new App(gateway, { render, openHelp, openReceipt, openReport, openLesson });
let shown = "", shownAt = 0, escapedAt = -Infinity;

function render(forced) {
  if (!app.say || !app.isReady) return;
  const { desk, say, draft, status } = app;
  const screen = screenOf(desk.sale);
  const state = [screen, draft.place, desk.away !== null, desk.sale.cancelling, desk.sale.transaction && headline(app), desk.sale.error?.code, desk.trouble?.code,
    desk.sale.request?.key, desk.sale.transaction?.state, desk.sale.transaction?.link?.url, screen === "preparing" || draft.place === "confirm" ? `${app.state} ${app.percent}` : ""].join(" ");
  bars(say, status);
  // Beside what is being typed.
  const list = $("aside"), told = asideButtons(app);
  if (list && list.textContent !== told.map((one) => one.textContent).join("")) show(list, told);
  if (state === shown && !forced) return;
  const changed = shown.split(" ")[0] !== screen || shown.split(" ")[1] !== draft.place;
  const focused = document.activeElement?.id;
  shown = state;
  const beside = draft.place === "settings" ? settingsScreen(app) : screen === "compose" ? (places[draft.place] ?? dayPlaces[draft.place] ?? places.compose)(app) : besideSale(app, draft.place);
  show($("main"), beside ?? saleScreen(app));
  document.documentElement.dataset.screen = screen;
  tick(app, $("main"));
  if (screen !== "compose") announce(screen);
  if (changed) entered(screen);
  else if (focused) $(focused)?.focus();
}

// Progress politely, an end at once; the other region is emptied, or the next end of the same name would be silent.
function announce(screen) {
  const running = ["starting", "asking", "preparing", "armed", "reading", "authorising", "link", "elsewhere"].includes(screen);
  $("status").classList.remove("seen");
  speak($(running ? "status" : "alert"), headline(app));
  speak($(running ? "alert" : "status"), "");
}

function entered(screen) {
  shownAt = performance.now();
  if (screen === "compose" && app.draft.place === "compose") $("entry")?.focus();
  else $("main").querySelector("h1")?.focus();
  if (screen === "compose") return;
  if (screen === "stored") app.askQueue();
  if (app.shop.sound && ["approved", "declined", "failed"].includes(screen)) play(screen === "approved");
}

function bars(say, status) {
  dress(say, `${say("till.title")} · ${app.till.till}`);
  $("shop").textContent = status?.profile?.displayName || app.till.till;
  $("test").hidden = status?.mode !== "test";
  $("test").textContent = say("test");
  // What was known of the reader says nothing while nobody answers.
  const lane = app.desk.away === null ? app.laneStatus : null;
  $("lane").className = `lane ${lane?.state ?? ""}`;
  $("lane").textContent = lane ? `${lane.name}: ${say(`lane.${lane.state}`)}` : "";
  const names = app.shop.cashiers.join();
  if ($("tools").lang !== say.language || $("tools").dataset.names !== names) {
    $("tools").lang = say.language;
    $("tools").dataset.names = names;
    show($("tools"), names && choice([["", say("till.cashier")], ...app.shop.cashiers.map((name) => [name, name])], app.shop.cashier ?? "", (name) => app.setCashier(name), { "aria-label": say("till.cashier") }), button(say("till.help"), () => openHelp(), "plain"),
      button(say("day.title"), () => (app.isInBooks ? app.goTo("compose") : app.openDay()), "plain", { id: "day" }),
      button(say("till.settings"), () => app.goTo(app.draft.place === "settings" ? "compose" : "settings"), "plain", { id: "settings" }));
  }
  $("settings").hidden = app.desk.sale.phase !== "none";
  $("day").hidden = app.desk.sale.phase !== "none" || !["cashier", "manager"].some((role) => app.till.roles.includes(role));
  const error = lane?.error ?? status?.blocked ?? lane?.notice;
  speak($("banner"), app.desk.away !== null ? say("till.offline") : error ? `${error.message}. ${error.resolution}` : "");
  document.documentElement.classList.toggle("away", app.desk.away !== null);
}

function openDialog(fill) {
  const dialog = $("dialog");
  if (!dialog.open) dialog.showModal();
  fill(app, $("dialog-content"));
}
function openHelp(topic) { openDialog((app, place) => help(app, place, topic ?? helpTopic(app))); }
function openReceipt(transaction) { openDialog((app, place) => receipt(app, place, transaction)); }
function openLesson() { openDialog(lesson); }
function openReport(number, isCopy) { openDialog((app, place) => report(app, place, number, isCopy)); }

document.addEventListener("keydown", (event) => {
  if ($("dialog").open || !app.say) return;
  if (event.key === "Enter" && !event.target.closest?.("button, a, select, summary") && performance.now() - shownAt > 600) {
    event.preventDefault();
    $("go")?.click();
  } else if (event.key === "Escape" && (mayCancel(app.desk.sale) || mayStop(app.desk.sale))) {
    const second = event.timeStamp - escapedAt < 3000;
    escapedAt = second ? -Infinity : event.timeStamp;
    $("status").classList.toggle("seen", !second);
    if (second) return app.cancel();
    speak($("status"), app.say("till.escape"));
    setTimeout(() => $("status").classList.remove("seen"), 3000);
  } else if (/^[\d.,]$/.test(event.key) && event.target === document.body) $("entry")?.focus();
});
for (const press of ["pointerdown", "keydown"]) document.addEventListener(press, wake);
document.addEventListener("visibilitychange", () => { if (app.till) app.prepare(); });
// A page that the browser revives knows nothing any more.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());

async function run() {
  await app.setLanguage();
  if (!gateway.token) {
    dress(app.say, app.say("till.title"));
    return show($("main"), pairing(gateway, app.say, "title", () => { app.setShop({ seenTutorial: true }); location.assign("/till/education.html"); }));
  }
  while (!app.till) {
    await app.start().catch((failure) => { app.desk.failed(failure); speak($("banner"), failure.error?.message ?? app.say("till.offline")); });
    if (!app.till) await new Promise((done) => setTimeout(done, 3000));
  }
  render(true);
  if (location.hash === "#try" && app.status?.mode === "test") Object.assign(app.draft, { entry: "12.50" }) && render(true);
  if (location.hash === "#settings") app.goTo("settings");
  setInterval(() => tick(app, $("main")), 500);
  setInterval(() => app.refresh(), 60000);
  stayAwake();
  gateway.follow("/v1/events", { onEvent: (event) => app.event(event), onLost: () => app.desk.lost(),
    onOpen: () => { app.desk.back(); app.refresh(); app.desk.do({ kind: "look" }); app.desk.lookForLost(); } });
}
run();
