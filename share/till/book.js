// SPDX-License-Identifier: Apache-2.0
// The shop's books as this till sees them: the day's sales and sums, one sale with its acts, the end of the day. What moves money is written
// down before it is sent, and sent again with the same key only.
import { Refused, newKey, pause, sleep } from "./gateway.js";
import { isTransient } from "./sale.js";
import { lastFour, merged, questions } from "./ledger.js";

const entry = "nfc-tap.act/", dayEntry = "nfc-tap.dayEnd";
// Pages of a hundred that are looked through for the last four digits of a card.
const depth = 10;

export class Book {
  constructor(gateway, changed, lost = () => {}, storage = globalThis.localStorage) {
    Object.assign(this, { gateway, changed, lost, storage, prefix: "till", sales: [], next: null, totals: null, shown: null, operations: [], days: [], isFound: false });
    this.forget();
  }

  // What was said of the last press.
  forget() {
    Object.assign(this, { trouble: null, note: null, isBusy: false });
  }

  async get(path) {
    return (await this.gateway.call("GET", path)).body;
  }

  // What comes of a press is told on its own screen, and on none that was opened since.
  async attempt(work) {
    const turn = this.turn = (this.turn ?? 0) + 1;
    this.isBusy = true;
    this.trouble = null;
    this.changed();
    let trouble = null;
    try {
      await work(() => this.turn === turn);
    } catch (failure) {
      if (!(failure instanceof Refused)) this.lost();
      trouble = failure.error ?? { code: "daemon.unavailable" };
    }
    if (this.turn !== turn) return;
    Object.assign(this, { trouble, isBusy: false });
    this.changed();
  }

  // The sums since the last end of day, what is open, and the newest sales of the day.
  load() {
    return this.attempt(async () => {
      this.totals = await this.get("/v1/totals?by=");
      this.isFound = false;
      await this.page();
    });
  }

  async page(after) {
    const from = this.totals?.day?.openedAt;
    const { transactions, next } = await this.get(`/v1/transactions?limit=50${from ? `&from=${encodeURIComponent(from)}` : ""}${after ? `&after=${encodeURIComponent(after)}` : ""}`);
    this.sales = merged(after ? this.sales : [], transactions);
    this.next = next ?? null;
  }

  older() { return this.attempt(() => this.page(this.next)); }

  // By order, number or sum among all that the daemon has of this till; by the last four digits among the newest thousand.
  find(text, currency) {
    if (!text.trim()) return this.load();
    return this.attempt(async () => {
      const lists = [];
      for (const question of questions(text, currency)) lists.push((await this.get(`/v1/transactions?limit=50&${question}`)).transactions);
      const digits = lastFour(text);
      for (let after = "", turn = 0; digits && after !== undefined && turn < depth; turn++) {
        const { transactions, next } = await this.get(`/v1/transactions?limit=100${after && `&after=${encodeURIComponent(after)}`}`);
        lists.push(transactions.filter(({ card }) => card?.last4 === digits));
        after = next ?? undefined;
      }
      this.sales = merged(...lists);
      Object.assign(this, { next: null, isFound: true });
    });
  }

  // MARK: one sale

  async reread(id, isCurrent = () => this.shown?.id === id) {
    const shown = await this.get(`/v1/transactions/${id}`);
    const { operations } = await this.get(`/v1/transactions/${id}/operations`);
    if (isCurrent()) Object.assign(this, { shown, operations });
  }

  // An event says when to ask.
  hear(id) {
    if (id && id === this.shown?.id && !this.isBusy) this.reread(id).then(() => this.changed(), () => {});
  }

  open(id) {
    this.forget();
    return this.attempt((isCurrent) => this.reread(id, isCurrent));
  }

  read(name) {
    try {
      return JSON.parse(this.storage.getItem(name));
    } catch {
      return null;
    }
  }

  // What was asked for here and has had no answer: the same with the same key, or nothing.
  unfinished(id) { return this.read(entry + id); }
  get unfinishedDay() { return this.read(dayEntry); }

  // The same request with the same key until somebody has said what became of it, or the screen is left.
  async send(path, place, { body, key }, isWanted) {
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this.gateway.call("POST", path, { body, key });
        this.storage.removeItem(place);
        return answer.body;
      } catch (failure) {
        if (failure instanceof Refused && !isTransient(failure.status, failure.error)) {
          if (failure.status !== 401) this.storage.removeItem(place);
          throw failure;
        }
        if (!isWanted()) throw failure;
        if (!(failure instanceof Refused)) this.lost();
      }
      await sleep(pause(attempt));
    }
  }

  // `captures`, `adjustments` or `releases`.
  perform(id, call, demand) {
    const place = entry + id;
    const act = this.unfinished(id) ?? { call, body: JSON.stringify(demand), key: newKey(this.prefix) };
    this.storage.setItem(place, JSON.stringify(act));
    return this.attempt(async (isCurrent) => {
      const operation = await this.send(`/v1/transactions/${id}/${act.call}`, place, act, () => this.shown?.id === id);
      let now = operation;
      for (let turn = 0; isCurrent(); turn++) {
        await this.reread(id, isCurrent);
        now = this.operations.find((one) => one.id === operation.id) ?? now;
        if (isCurrent()) this.note = now.state === "refused" || now.result?.outcome === "declined" ? "day.declined" : now.state === "done" ? "till.done" : "open.wait";
        if (!isCurrent() || this.note !== "open.wait") break;
        this.changed();
        await sleep(pause(turn));
      }
    });
  }

  // The payment service takes one reversal of a payment, whoever asks and how often.
  reverse(id) {
    return this.attempt(async (isCurrent) => {
      await this.gateway.call("POST", `/v1/transactions/${id}/reversal`, { body: JSON.stringify({ reason: "customerCancel" }) });
      await this.reread(id, isCurrent);
    });
  }

  // MARK: the end of the day

  // The days that this till has closed, the newest first.
  async readDays() {
    this.days = (await this.get("/v1/days?limit=20")).days.filter(({ state }) => state !== "open");
  }

  toEnd() {
    this.forget();
    return this.attempt(async () => {
      this.totals = await this.get("/v1/totals?by=");
      await this.readDays();
    });
  }

  // Answers the number of the day that was closed.
  async closeDay() {
    const act = this.unfinishedDay ?? { body: "{}", key: newKey(this.prefix) };
    this.storage.setItem(dayEntry, JSON.stringify(act));
    let number = null, isWanted = true;
    this.leaveEnd = () => { isWanted = false; };
    await this.attempt(async () => {
      number = (await this.send("/v1/days", dayEntry, act, () => isWanted)).day.number;
      this.totals = await this.get("/v1/totals?by=");
      await this.readDays();
    });
    return number;
  }

  // For a printer; the daemon's own text.
  async report(number, isCopy, width) {
    return this.gateway.call("GET", `/v1/days/${number}/report?width=${width}${isCopy ? "&copy=true" : ""}`, { accept: "text/plain" });
  }
}
