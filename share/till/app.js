// SPDX-License-Identifier: Apache-2.0
// What the cashier's screens ask and press: the till, its lane, its draft and its sale.
import { Book } from "./book.js";
import { Desk } from "./desk.js";
import { emptyDraft, members, problem, total } from "./compose.js";
import { mayLeave, mayLink, mayPutAside, paidElsewhere, request, screenOf, terminals } from "./sale.js";
import { setShop, shop, whispers } from "./shop.js";
import { bestMatch, load } from "./language.js";
import { useDecimals } from "./money.js";

export class App {
  // `page` is {render(forced), openHelp(topic), openReceipt(transaction), openReport(number, isCopy), openLesson()}.
  constructor(gateway, page) {
    Object.assign(this, { gateway, shop: shop(), draft: emptyDraft(), till: null, status: null, percent: null, queue: null, prepared: 0 });
    this.render = (forced) => page.render(forced);
    this.openHelp = (topic) => page.openHelp(topic);
    this.openReceipt = (transaction = this.desk.sale.transaction) => page.openReceipt(transaction);
    this.openLesson = () => page.openLesson();
    this.openReport = (number, isCopy = false) => page.openReport(number, isCopy);
    this.desk = new Desk(gateway, () => {
      if (this.waitsForTerms) this.refresh();
      this.render();
    });
    this.book = new Book(gateway, () => this.isInBooks && this.render(true), () => this.desk.lost());
    whispers?.addEventListener("message", ({ data }) => { this.chosenLanguage = data.language ?? this.chosenLanguage; });
  }

  async setLanguage(language) {
    if (language) this.setShop({ language });
    this.say = await load(bestMatch([this.shop.language, ...(navigator.languages ?? [])].filter(Boolean)));
    this.gateway.language = this.say.language;
    this.render(true);
  }

  setShop(changes) { this.shop = setShop(changes); }

  get customerLanguage() { return this.chosenLanguage ?? this.shop.customerLanguage ?? this.say.language; }

  // MARK: the till and its readers

  async start() {
    const { body } = await this.gateway.call("GET", "/v1/till");
    this.till = body;
    this.desk.prefix = this.book.prefix = body.till;
    useDecimals(body.decimals);
    // The sale from before is back before anything can be typed or pressed.
    await this.desk.takeUp();
    this.isReady = true;
    await this.refresh();
    await this.desk.lookAround();
    await this.prepare();
  }

  // Once a second at most: each window of the till asks, and the gateway counts. What another window does to the reader ends without an event.
  async refresh() {
    if (this.resting) {
      this.refreshAgain = true;
      return;
    }
    this.resting = true;
    this.refreshAgain = false;
    let rest = 1000;
    try {
      const before = this.status?.terms;
      this.status = (await this.gateway.call("GET", "/v1/status")).body;
      this.desk.back();
      this.goOn(before);
    } catch (failure) {
      if (failure.status === 429) {
        this.refreshAgain = true;
        rest = 2000 + 2000 * Math.random();
      }
      this.desk.failed(failure);
    }
    clearTimeout(this.later);
    if (this.state === "busy" && this.desk.sale.phase === "none" || this.waitsForTerms) this.later = setTimeout(() => this.refresh(), 5000);
    setTimeout(() => {
      this.resting = false;
      if (this.refreshAgain) this.refresh();
    }, rest);
    this.render();
  }

  get waitsForTerms() { return this.desk.sale.phase === "refused" && this.desk.sale.error?.code === "terms.not_accepted"; }

  // Once the terms are accepted, at the machine or elsewhere, the payment that was refused for them goes on: nothing was started by it.
  // Once for an acceptance: what is refused again waits for a person.
  goOn(before) {
    if (this.waitsForTerms && before !== "accepted" && this.status.terms === "accepted") this.again();
  }

  // At the start and when the window comes to the front, once a minute at most.
  async prepare() {
    if (document.visibilityState !== "visible" || performance.now() - this.prepared < 60000 && this.prepared) return;
    this.prepared = performance.now();
    try {
      const { body } = await this.gateway.call("POST", `/v1/lanes/${encodeURIComponent(this.lane)}/prepare`);
      this.percent = body.percent ?? null;
    } catch (failure) {
      this.desk.failed(failure);
    }
    await this.refresh();
  }

  lanes() {
    const known = this.status?.lanes ?? [];
    return (this.till?.lanes ?? []).map((name) => known.find((lane) => lane.name === name) ?? { name, state: "detached", features: [] });
  }

  get lane() {
    const mine = this.till?.lanes ?? [];
    return mine.includes(this.shop.lane) ? this.shop.lane : mine[0];
  }

  get laneStatus() { return this.lanes().find((lane) => lane.name === this.lane); }
  get state() { return this.laneStatus?.state; }
  laneName(lane) { return lane ? `${lane.name}${lane.reader ? ` · ${lane.reader.model}` : ""}` : ""; }

  setLane(lane) {
    this.setShop({ lane });
    this.prepared = 0;
    this.prepare();
    this.render(true);
  }

  offers(type) {
    return (this.till?.types ?? []).includes(type) && this.lanes().some((lane) => lane.features?.includes(type));
  }

  // Who has not worked at this till yet is offered the tutorial: each time until it was seen, and never during a sale, which it would leave.
  setCashier(cashier) {
    this.setShop({ cashier: cashier || null });
    this.render(true);
    if (cashier && !this.shop.taught.includes(cashier) && this.desk.sale.phase === "none") this.openLesson();
  }

  learn() {
    this.setShop({ taught: [...new Set([...this.shop.taught, this.shop.cashier])] });
    location.assign("/till/education.html");
  }

  get payee() {
    const merchant = this.desk.sale.transaction?.details?.merchant ?? this.status?.profile;
    const name = merchant?.displayName ?? "";
    return merchant?.onBehalfOf ? this.say("till.through", { seller: merchant.onBehalfOf, platform: name }) : name;
  }

  // MARK: the sale

  get mayOpenLinks() { return (this.till?.types ?? []).includes("link"); }
  // A sum that is only to be held is held by a card at a reader: a link and another terminal take the money at once.
  get isHeldOnly() { return this.desk.sale.phase === "none" && this.draft.amountStatus === "preauthorized"; }
  methods() { return ["card", this.shop.cash && "cash", (this.shop.link || this.mayOpenLinks) && !this.isHeldOnly && "link"].filter(Boolean); }
  // Those of the payment service that a sale can go to from the start, without a card here.
  otherTerminals() { return (this.till?.types ?? []).includes("handover") && !this.isHeldOnly ? this.status?.terminals ?? [] : []; }
  type() { return this.desk.sale.request ? JSON.parse(this.desk.sale.request.body).type : "purchase"; }
  amount() { return this.desk.sale.request ? JSON.parse(this.desk.sale.request.body).amount : total(this); }

  // A number of the sale that people can say: the day and four signs.
  order() {
    this.draft.order ??= `${new Date(this.gateway.now()).toISOString().slice(2, 10).replaceAll("-", "")}-${this.desk.key().slice(-4).toUpperCase()}`;
    return this.draft.order;
  }

  goTo(place) {
    this.draft.place = place;
    this.render(true);
  }

  // From the sum to the card: tip, donation, methods, each only where there is something to choose.
  proceed(done = "compose") {
    if (problem(this)) return;
    const path = ["compose", this.shop.tips && "tip", this.shop.donations && "donation"].filter(Boolean);
    const next = path[path.indexOf(done) + 1];
    if (next) return this.goTo(next);
    if (this.methods().length === 1 && this.lanes().length === 1 && this.otherTerminals().length === 0 && !this.shop.preferred) return this.sell("purchase");
    this.goTo("confirm");
  }

  sell(type, to) {
    if (["purchase", "refund", "link", "handover"].includes(type) && problem(this)) return this.goTo("compose");
    const sale = request(this.desk.key(), this.order(), members(this, type, to));
    this.draft.place = "compose";
    this.desk.do({ kind: "sell", request: sale, aside: this.desk.others.map(({ request }) => request.order) });
  }

  // A link, and a refund that names its sale, need no lane, unless the card of the sale is to be read.
  again(changes = this.desk.needsLane ? { lane: this.lane } : {}) { this.desk.do({ kind: "again", key: this.desk.key(), changes }); }
  // What a link or another terminal that was chosen first stood for is paid by a card then.
  againByCard() { return this.desk.needsLane || !paidElsewhere.has(this.type()) ? this.again() : this.again({ type: "purchase", to: undefined, lane: this.lane }); }
  againWithCard() { this.again({ lane: this.lane, card: "same" }); }
  cancel() { this.desk.do({ kind: "cancel" }); }

  // Where no link can be opened, there may be an address in the settings.
  link() {
    if (this.mayOpenLinks && mayLink(this.desk.sale)) this.desk.do({ kind: "link", key: this.desk.key() });
    else this.goTo("link");
  }

  // Those that this till may use; where there are none, a person has to know where one stands.
  terminals() { return (this.till?.types ?? []).includes("handover") ? terminals(this.desk.sale) : []; }
  handOver(to) { this.desk.do({ kind: "handover", key: this.desk.key(), to }); }

  putAside() {
    if (!mayPutAside(this.desk.sale)) return;
    this.desk.do({ kind: "putAside" });
    this.clear();
  }

  // What is on the bill of the next customer waits meanwhile.
  openAside(one) {
    this.waiting ??= this.draft;
    this.draft = emptyDraft();
    this.desk.restore(one);
  }

  finish() {
    if (!mayLeave(this.desk.sale)) return;
    if (screenOf(this.desk.sale) !== "compose") this.desk.do({ kind: "leave" });
    this.clear();
  }

  clear() {
    this.draft = this.waiting ?? emptyDraft();
    this.waiting = null;
    this.chosenLanguage = undefined;
    this.queue = null;
    whispers?.postMessage({ sale: "over" });
    this.render(true);
  }

  unpair() {
    this.gateway.token = null;
    location.reload();
  }

  // MARK: the day

  get isManager() { return (this.till?.roles ?? []).includes("manager"); }
  get isInBooks() { return ["day", "sale", "act", "end"].includes(this.draft.place) && this.desk.sale.phase === "none"; }

  // What an administrator types so that this till may do it.
  command(note) {
    const rights = { "day.needsManager": "--role manager", "day.needsSale": "--role manager", "day.needsRefund": "--type purchase --type refund" }[note];
    return rights && `sudo nfc-tap-gateway pair --till ${this.till.till} ${rights}`;
  }

  openDay(note = null) {
    this.goTo("day");
    this.book.forget();
    this.book.note = note;
    this.book.load();
  }

  openSale(id) {
    this.book.shown = null;
    this.goTo("sale");
    this.book.open(id);
  }

  // Written down like every sale: the same goods are not given back twice because an answer was lost.
  refundSale(sale, amount) {
    const made = request(this.desk.key(), sale.order ?? this.order(), { type: "refund", of: sale.id, amount, language: this.customerLanguage });
    this.book.forget();
    this.draft.place = "compose";
    this.desk.do({ kind: "sell", request: made, aside: this.desk.others.map(({ request }) => request.order) });
  }

  // MARK: events

  event({ name, data }) {
    const event = JSON.parse(data);
    if (event.lane === this.lane && name === "prepare.progress") this.percent = event.percent ?? (event.step ? this.percent : null);
    if (event.transaction && event.transaction === this.desk.sale.transaction?.id) this.desk.do({ kind: "event", event });
    else if (name.startsWith("payment.") || ["read.cancelled", "read.notCompleted"].includes(name)) this.desk.lookAround(true);
    if (this.isInBooks && this.draft.place === "sale") this.book.hear(event.transaction);
    if (name === "events.missed") this.desk.do({ kind: "look" });
    if (!name.startsWith("read.") || event.transaction !== this.desk.sale.transaction?.id) this.refresh();
  }

  async askQueue() {
    try {
      this.queue = (await this.gateway.call("GET", "/v1/queue")).body;
      this.render(true);
    } catch (failure) {
      this.desk.failed(failure);
    }
  }
}
