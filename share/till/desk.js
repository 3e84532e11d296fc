// SPDX-License-Identifier: Apache-2.0
// Carries out what the machine of a sale asks for: writes the sale down, sends it, asks about it.
import { isSettled, isTransient, nothing, screenOf, step } from "./sale.js";
import { Refused, newKey, pause, sleep } from "./gateway.js";

const current = "nfc-tap.sale", held = "nfc-tap.aside";
const read = (name) => JSON.parse(localStorage.getItem(name) ?? "null");
const write = (name, value) => localStorage.setItem(name, JSON.stringify(value));

export class Desk {
  constructor(gateway, changed) {
    this.gateway = gateway;
    this.changed = changed;
    this.sale = nothing;
    this.until = null;
    this.away = null;
    this.trouble = null;
    // Screens of the sales that were put aside, by their keys.
    this.ends = {};
    // Events bring progress; this is for one that was lost.
    setInterval(() => {
      const { phase, transaction } = this.sale;
      if (phase === "following" && (!isSettled(transaction) || ["reversing", "stored"].includes(transaction.state))) this.get();
    }, 3000);
  }

  get aside() {
    return read(held) ?? [];
  }

  restore(request = read(current)) {
    if (request) {
      write(current, request);
      this.do({ kind: "restore", request });
    }
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
    if (screenOf(sale) === "armed" && before !== "armed") this.askDeadline();
    this.changed();
  }

  carryOut(effect) {
    switch (effect.do) {
      case "store": return write(current, effect.request);
      case "forget":
        localStorage.removeItem(current);
        return write(held, this.aside.filter((one) => one.key !== effect.request?.key));
      case "putAside": return write(held, [...this.aside, effect.request]);
      case "post": return this.post(this.sale.request);
      case "ask": return this.ask(this.sale.request);
      case "get": return this.get();
      case "getOther":
        return this.gateway.call("GET", `/v1/transactions/${effect.id}`)
          .then(({ body }) => this.do({ kind: "other", transaction: body }), (failure) => this.failed(failure));
      case "cancel": return this.cancel();
    }
  }

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

  async ask(request) {
    for (let attempt = 0; this.isCurrent(request, "asking"); attempt++) {
      try {
        const { body } = await this.gateway.call("GET", `/v1/transactions?key=${encodeURIComponent(request.key)}`);
        this.back();
        if (body.transactions.length === 0) return this.do({ kind: "neverSeen", key: request.key });
        this.do({ kind: "answer", transaction: body.transactions[0], key: request.key });
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

  // The cashier hears how a sale that was put aside has ended without asking for it.
  async lookAside() {
    for (const one of this.aside) {
      try {
        const { body } = await this.gateway.call("GET", `/v1/transactions?key=${encodeURIComponent(one.key)}`);
        const [transaction] = body.transactions;
        this.ends[one.key] = transaction ? screenOf({ phase: "following", request: one, transaction }) : "unknown";
      } catch (failure) {
        this.failed(failure);
      }
    }
    this.changed();
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
