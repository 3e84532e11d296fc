// SPDX-License-Identifier: Apache-2.0
// Carries out what the machine of a sale asks for: writes the sale down, sends it, asks about it.
import { Refused, newKey, pause, sleep } from "./gateway.js";
import { Kept } from "./kept.js";
import { found, inDoubt, isSettled, isTransient, needsLane, nothing, screenOf, step } from "./sale.js";

export class Desk {
  constructor(gateway, changed, kept = new Kept()) {
    this.gateway = gateway;
    this.changed = changed;
    this.kept = kept;
    // The sales that no window has on its screen, as far as is known.
    this.free = new Set();
    this.sale = nothing;
    this.until = null;
    this.away = null;
    this.trouble = null;
    // Screens of the sales that no window has, by their keys.
    this.ends = {};
    // Events bring progress; this is for one that was lost.
    setInterval(() => {
      const { phase, transaction } = this.sale;
      if (phase === "following" && (!isSettled(transaction) || ["reversing", "stored"].includes(transaction.state))) this.get();
      if (this.others.length > 0) this.lookAround();
    }, 3000);
    globalThis.addEventListener?.("storage", () => this.lookAround());
  }

  // Every sale that is not over, whichever window has it, but for the one on this screen.
  get others() {
    return this.kept.all().filter(({ request }) => request.key !== this.sale.request?.key);
  }

  // Those that were put aside, whose window is gone, or that are in doubt: no window hides one.
  get aside() {
    return this.others.filter(({ request: { key }, aside, screen }) => aside || this.free.has(key) || screen === "unknown").map((one) => one.request);
  }

  // What an aside sale has come to, as far as anybody knows.
  endOf(key) {
    return this.ends[key] ?? this.kept.find(key)?.screen;
  }

  async takeUp() {
    const request = await this.kept.resume();
    if (request && this.sale.phase === "none") this.do({ kind: "restore", request });
  }

  restore(request) {
    this.keep(request);
    this.do({ kind: "restore", request });
  }

  // This window's sale from now on, written down.
  keep(request) {
    this.kept.put(request);
    this.kept.hold(request.key);
  }

  key() {
    return newKey(this.prefix ?? "till");
  }

  do(input) {
    const before = screenOf(this.sale);
    const [sale, effects] = step(this.sale, input);
    this.sale = sale;
    if (sale.request === null || screenOf(sale) !== before) this.trouble = null;
    for (const effect of effects) this.carryOut(effect);
    if (sale.request) this.kept.note(sale.request.key, screenOf(sale));
    if (screenOf(sale) === "armed" && before !== "armed") this.askDeadline();
    this.changed();
  }

  carryOut(effect) {
    switch (effect.do) {
      case "store": return this.keep(effect.request);
      case "forget":
        if (effect.request) this.kept.forget(effect.request.key);
        return this.sale.request ?? this.kept.letGo();
      case "putAside":
        this.kept.put(effect.request, { aside: true });
        return this.sale.request ?? this.kept.letGo();
      case "post": return this.post(this.sale.request);
      case "ask": return this.ask(this.sale.request);
      case "get": return this.get();
      case "getOther":
        return this.gateway.call("GET", `/v1/transactions/${effect.id}`)
          .then(({ body }) => this.do({ kind: "other", transaction: body }), (failure) => this.failed(failure));
      case "cancel": return this.cancel();
    }
  }

  get needsLane() { return needsLane(this.sale); }

  isCurrent(request, phase) {
    return this.sale.request?.key === request.key && this.sale.phase === phase;
  }

  // The same request with the same key until somebody has said what became of it.
  async post(request) {
    for (let attempt = 0; this.isCurrent(request, "sending"); attempt++) {
      try {
        const { body } = await this.gateway.call("POST", "/v1/transactions", { body: request.body, key: request.key });
        this.back();
        return this.do({ kind: "answer", transaction: body, key: request.key });
      } catch (failure) {
        if (failure instanceof Refused && failure.status === 401) return;
        if (failure instanceof Refused && !isTransient(failure.status, failure.error)) {
          return this.do({ kind: "refused", error: failure.error, key: request.key });
        }
        this.failed(failure);
      }
      await sleep(pause(attempt));
    }
  }

  // Another till's key says nothing here: nobody may conclude from it that nothing was charged.
  isOthers({ id, key }) {
    return id === undefined && this.prefix !== undefined && !key.startsWith(`${this.prefix}/`);
  }

  // What became of a request; undefined where it has never arrived.
  async transactionOf({ id, key }) {
    if (id) return (await this.gateway.call("GET", `/v1/transactions/${id}`)).body;
    return (await this.gateway.call("GET", `/v1/transactions?key=${encodeURIComponent(key)}`)).body.transactions[0];
  }

  async ask(request) {
    if (this.isOthers(request)) return this.do({ kind: "othersSale", key: request.key });
    for (let attempt = 0; this.isCurrent(request, "asking"); attempt++) {
      try {
        const transaction = await this.transactionOf(request);
        this.back();
        if (!transaction) return this.do({ kind: "neverSeen", key: request.key });
        this.do({ kind: "answer", transaction, key: request.key });
        return this.get();
      } catch (failure) {
        const code = failure instanceof Refused ? failure.error.code : null;
        if (failure.status === 401) return;
        if (code === "idempotency.key_unknown") return this.do({ kind: "neverSeen", key: request.key });
        this.failed(failure);
      }
      await sleep(pause(attempt));
    }
  }

  // One question at a time; what is asked meanwhile is asked once more afterwards.
  async get() {
    const { request, transaction } = this.sale;
    if (!transaction) return;
    if (this.getting) {
      this.getAgain = true;
      return;
    }
    this.getting = true;
    try {
      const { body } = await this.gateway.call("GET", `/v1/transactions/${transaction.id}`);
      this.back();
      this.do({ kind: "answer", transaction: body, key: request.key });
    } catch (failure) {
      this.failed(failure);
    }
    this.getting = false;
    if (this.getAgain) {
      this.getAgain = false;
      await this.get();
    }
  }

  async cancel() {
    const { request, transaction } = this.sale;
    try {
      const { body } = await this.gateway.call("DELETE", `/v1/transactions/${transaction.id}`);
      this.back();
      this.do({ kind: "answer", transaction: body.transaction, key: request.key });
      if (body.outcome !== "cancelled" && !body.becomesReversal) this.do({ kind: "notCancelled" });
    } catch (failure) {
      this.failed(failure);
      this.do({ kind: "notCancelled" });
    }
  }

  // Which windows there are, and how the sales have ended that none of them has: the cashier hears it without asking.
  async lookAround(anew = false) {
    const held = await this.kept.held();
    const free = this.others.map((one) => one.request).filter(({ key }) => !held.has(key));
    this.free = new Set(free.map(({ key }) => key));
    for (const key of Object.keys(this.ends)) if (!this.free.has(key)) delete this.ends[key];
    for (const request of free.filter(({ key }) => anew || !(key in this.ends))) {
      try {
        const transaction = this.isOthers(request) ? undefined : await this.transactionOf(request);
        this.ends[request.key] = transaction ? screenOf({ phase: "following", request, transaction }) : "unknown";
      } catch (failure) {
        if (failure.status === 401) return;
        this.ends[request.key] = failure.error?.code === "idempotency.key_unknown" ? "notStarted" : "unknown";
        this.failed(failure);
      }
    }
    this.changed();
  }

  // What the daemon has in doubt of this till, and no window has written down: a storage that was cleared, another browser.
  async lookForLost() {
    try {
      const { body } = await this.gateway.call("GET", `/v1/transactions?limit=100&${inDoubt.map((state) => `state=${state}`).join("&")}`);
      for (const transaction of body.transactions.filter((one) => one.till === this.prefix && !one.history?.some(({ state }) => state === "stored"))) {
        const isKept = ({ request: { id, order } }) => id === transaction.id || (order !== undefined && order === transaction.order);
        if (!this.kept.all().some(isKept)) this.kept.put(found(transaction));
      }
    } catch (failure) {
      this.failed(failure);
    }
    await this.lookAround(true);
  }

  // `reversal` and `decline`: what comes of them is read from the transaction.
  async demand(what, body) {
    try {
      await this.gateway.call("POST", `/v1/transactions/${this.sale.transaction.id}/${what}`, { body });
      this.trouble = null;
    } catch (failure) {
      this.failed(failure);
      this.trouble = failure.error ?? null;
    }
    this.changed();
    await this.get();
  }

  async askDeadline() {
    this.until = null;
    const { lane, history } = this.sale.transaction;
    try {
      const { body } = await this.gateway.call("GET", `/v1/lanes/${encodeURIComponent(lane)}`);
      const until = Date.parse(body.holder?.until ?? "");
      const armed = Date.parse(history.findLast((one) => one.state === "armed")?.at ?? "");
      this.until = Number.isNaN(until) ? armed + 60000 : until;
    } catch { /* no seconds are shown */ }
    this.changed();
  }

  failed(failure) {
    if (failure instanceof Refused && failure.error.code !== "daemon.unavailable") return;
    this.lost();
  }

  lost() {
    if (this.away === null) {
      this.away = performance.now();
      this.changed();
    }
  }

  back() {
    if (this.away !== null) {
      this.away = null;
      this.changed();
    }
  }
}
