// SPDX-License-Identifier: Apache-2.0
// The customer's page: the gateway's short view of one lane, in the customer's language. It sends nothing but the customer's address for a receipt.
import { Gateway } from "./gateway.js";
import { addressEntry } from "./address.js";
import { advance, picture, take, welcome } from "./customer.js";
import { bestMatch, languages, load } from "./language.js";
import { money } from "./money.js";
import { pairing } from "./settings.js";
import { shop, whispers } from "./shop.js";
import { amountText, button, dress, h, lineLabel, qrCode, show, sign, speak, stayAwake, sumSentence, taken } from "./view.js";
import { play, wake } from "./sound.js";

const $ = (id) => document.getElementById(id);
// Options stand behind the address: /display/#languages=de,en&sound=on&speak=amounts
const options = new URLSearchParams(location.hash.slice(1));
const gateway = new Gateway("nfc-tap.display-token", () => { gateway.token = null; location.reload(); });
let offered = options.get("languages")?.split(",").filter((one) => one in languages) ?? shop().languages;
let shown = { view: welcome, since: 0, next: null }, lostSince = null, chosen = null, say, drawn = "", asked = null, sent = null;
const now = () => performance.now() / 1000;
const amountOf = (amount) => money(amount, say.locale);
const big = (amount) => { const text = amountOf(amount); return amountText(text, `amount big${text.length > 11 ? " long" : ""}${text.length > 17 ? " longer" : ""}`); };

async function setLanguage() {
  say = await load(chosen ?? bestMatch([shown.view.language, options.get("language"), shop().customerLanguage, shop().language, ...(navigator.languages ?? [])].filter(Boolean)));
  gateway.language = say.language;
  dress(say, say("display.title"));
  draw(true);
}

// A sentence of the customer's; amounts stand in it only once the card is gone.
const words = (key, seen) => say(key, { amount: seen.sum ? amountOf(seen.sum) : "–", paid: seen.paid ? amountOf(seen.paid) : "–", open: seen.open ? amountOf(seen.open) : "–" });

const payeeOf = ({ payee, through }) => (through ? say("till.through", { seller: payee, platform: through }) : payee);
// Whom the customer pays, or what else the sum is.
const subject = (seen) => seen.subject === "pay" ? (seen.payee ? say("pay", { merchant: payeeOf(seen) }) : "") : [say(seen.subject), payeeOf(seen)].filter(Boolean).join(" · ");

function draw(forced) {
  if (!say || !gateway.token) return;
  const seen = picture(shown, now(), lostSince);
  const state = JSON.stringify(seen);
  if (state === drawn && !forced) return;
  // The next customer never finds what this one typed.
  if (asked && asked !== seen.receipt) leaveAddress();
  const speaks = drawn === "" || JSON.parse(drawn).lines.join() !== seen.lines.join();
  drawn = state;
  document.documentElement.className = seen.sign ?? "";
  document.documentElement.dataset.phase = seen.phase;
  $("test").hidden = !seen.test;
  $("test").textContent = say("test");
  const payee = payeeOf(shown.view);
  if (payee) localStorage.setItem("nfc-tap.payee", payee);
  $("shop").textContent = payee ?? localStorage.getItem("nfc-tap.payee") ?? "";
  // Sum and word come first, and once.
  const sumLine = seen.sum && seen.lines.find((key) => key.endsWith(".sum"));
  const code = seen.qr?.startsWith("data:image/") && qrCode(seen.qr, say(seen.phase === "link" ? "link" : "receipt"), seen.phase !== "link");
  const side = code || (seen.here && h("span", { class: "hold", "aria-hidden": "true" })) || (seen.busy && h("span", { class: "spinner", "aria-hidden": "true" }));
  show($("main"), h("section", { class: `scene ${side ? "split" : ""}`, "aria-busy": String(Boolean(seen.busy)) },
    h("div", { class: "words" },
      seen.sign && h("div", { class: "end" }, sign(seen.sign), sumLine && h("p", { class: `end-sum${amountOf(seen.sum).length > 11 ? " long" : ""}` }, sumSentence(words(sumLine, seen), amountOf(seen.sum)))),
      seen.amount && h("div", { class: "payee" }, h("span", {}, subject(seen)), seen.pending && h("span", { class: "badge" }, say("pending"))),
      seen.amount && big(seen.amount),
      seen.items?.length > 1 && h("ul", { class: "lines" }, seen.items.slice(0, innerHeight < 600 ? 2 : 8).map((line) => h("li", {}, lineLabel(say, line), amountText(amountOf(line.amount))))),
      seen.lines.filter((key) => key !== sumLine).map((key, place) => h(place ? "p" : "h1", { class: `sentence${place ? " second" : ""}` }, words(key, seen))),
      sent === shown.since && h("p", { class: "taken" }, say("receipt.sent")),
      seen.networks?.length > 0 && h("p", { class: "taken" }, taken(say, seen.networks))),
    side));
  const text = seen.lines.map((key) => words(key, seen)).join(". ");
  if (speaks) {
    speak($(seen.sign ? "alert" : "status"), text);
    speak($(seen.sign ? "status" : "alert"), "");
  }
  if (speaks && seen.sign && options.get("sound") === "on" && ["approved", "declined", "failed"].includes(seen.phase)) play(seen.phase === "approved");
  const canSpeak = (globalThis.speechSynthesis?.getVoices() ?? []).some((voice) => voice.lang.startsWith(say.language));
  show($("footer"), seen.receipt && button(say("receipt.send"), askAddress, "plain", { id: "ask-receipt" }), offered.length > 1 && button(languages[say.language] ?? say("display.language"), chooseLanguage, "plain", { "aria-label": `${say("display.language")}: ${languages[say.language]}` }),
    canSpeak && button(say("display.aloud"), () => aloud(seen, text), "plain"));
}

// Amounts are said aloud only where the shop has headphones for it.
function aloud(seen, text) {
  const heard = shop().aloudAmounts || options.get("speak") === "amounts";
  const utterance = new SpeechSynthesisUtterance([heard && seen.amount && amountOf(seen.amount), text].filter(Boolean).join(". "));
  utterance.lang = say.language;
  speechSynthesis.cancel();
  speechSynthesis.speak(utterance);
}

// Its word is for one receipt: what comes after it is the gateway's view.
function askAddress() {
  asked = shown.view.receiptWord;
  const [word, since] = [asked, shown.since];
  addressEntry($("dialog-content"), say, async (to) => {
    await gateway.call("POST", "/v1/display/receipt", { body: JSON.stringify({ word, to }) });
    if (since !== shown.since) return;
    sent = since;
    speak($("status"), say("receipt.sent"));
    leaveAddress();
    draw(true);
  }, leaveAddress);
  $("dialog").showModal();
}

function leaveAddress() {
  asked = null;
  show($("dialog-content"));
  $("dialog").close();
}

function chooseLanguage() {
  show($("dialog-content"), h("div", { class: "names", role: "group", "aria-label": say("display.language") }, offered.slice(0, 8).map((tag) => button(languages[tag], () => {
    chosen = tag;
    whispers?.postMessage({ language: tag });
    $("dialog").close();
    setLanguage();
  }, "", { lang: tag }))));
  $("dialog").showModal();
}

// A choice holds for one sale.
function viewed(view) {
  become(take(shown, view, now()));
}

function become(next) {
  const ended = next.view.phase === "idle" && shown.view.phase !== "idle";
  const other = ended || next.view.language !== shown.view.language;
  if (ended) chosen = null;
  shown = next;
  if (other) setLanguage();
  else draw();
}

whispers?.addEventListener("message", ({ data }) => { if (data.languages) { offered = data.languages; draw(true); } });
document.addEventListener("pointerdown", wake);
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
window.addEventListener("resize", () => draw(true));
globalThis.speechSynthesis?.addEventListener?.("voiceschanged", () => draw(true));

await setLanguage();
if (!gateway.token) show($("main"), pairing(gateway, say, "display", () => location.reload()));
else {
  wake();
  draw(true);
  stayAwake();
  setInterval(() => become(advance(shown, now())), 500);
  gateway.follow("/v1/display", { repeats: true, onEvent: ({ data }) => { lostSince = null; viewed(JSON.parse(data)); },
    onOpen: () => { lostSince = null; draw(); }, onLost: () => { lostSince ??= now(); draw(); } });
}
