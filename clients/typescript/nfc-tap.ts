// SPDX-License-Identifier: Apache-2.0
/** Takes payments with nfc-tapd through its gateway, from a page or from Node.js 18 and later. Amounts are in minor units. */
import { operations } from "./contract.js";
import type { Error as Detail, Event, Operations, PaymentRequest, Transaction, TransactionState } from "./contract.js";
import { EventReader } from "./sse.js";
import type { Message } from "./sse.js";
export type { ErrorCode, Event, Operations, PaymentRequest, Transaction } from "./contract.js";

type Name = keyof Operations;
type Stop = { signal?: AbortSignal };
/** A signal that ends a call after a time that `again` begins anew. */
type Limit = { signal: AbortSignal; again: () => void; clear: () => void };

/** States in which a transaction stays, but for what people or time do to it later. */
const ended: readonly TransactionState[] = [
    "approved", "declined", "reversed", "cancelled", "failed", "completed", "stored", "delivered", "reversing"];
/** The gateway answers `wait=10` within this time, in milliseconds; a browser that asks its user for leave has none of its own. */
const patience = 20_000;

/** What was refused, and what to do about it; `code` is one of `ErrorCode`, or of a newer daemon. */
export class TapError extends Error {
    readonly code: string;
    readonly resolution: string;
    readonly retryable: boolean;
    /** Of HTTP. */
    readonly status: number;
    /** All that was said: `field`, `limit`, `transaction`, `next`, whom to call. */
    readonly detail: Detail | undefined;

    constructor(status: number, detail?: Detail) {
        super(detail ? `${detail.message} (${detail.code})` : `The gateway answered with ${status} (client.unexpected_answer)`);
        this.name = "TapError";
        this.code = detail?.code ?? "client.unexpected_answer";
        this.resolution = detail?.resolution ?? "Look at the gateway's address, and use client and daemon of the same version.";
        this.retryable = detail?.retryable ?? false;
        this.status = status;
        this.detail = detail;
    }
}

/** An answer that did not come, or says nothing about the request: whether it was carried out is not known. */
class Lost extends Error {
    constructor(readonly after = 0) {
        super("no answer");
    }
}

/** A till at its gateway. */
export class Tap {
    private readonly base: string;

    /** `address` as in `http://127.0.0.1:8716`; `token` as the pairing gave it. */
    constructor(address: string, private readonly token: string) {
        this.base = address.replace(/\/+$/, "");
    }

    /**
     * Sells, and returns the transaction once it has an end; declined, cancelled and failed are ends as well. A lost answer is
     * asked for again under the same key, after 1, 2, 4 … 30 seconds, until `signal` ends it. Throws what was refused.
     *
     * Give a `key` that you have written down to find the sale again after a crash of your own program.
     */
    async pay(
        value: number, currency: string, more: Omit<PaymentRequest, "type" | "amount" | "dryRun"> & { key?: string } & Stop = {},
    ): Promise<Transaction> {
        const { key = newKey(), signal, ...rest } = more;
        return this.follow(await this.repeat(() => this.call(
            "createTransaction", { "Idempotency-Key": key, Prefer: "wait=10" },
            { type: "purchase", amount: { value, currency }, ...rest }, { signal }), signal) as Transaction, { signal });
    }

    /** The transaction once it has an end, which may take until the payment service can be asked. */
    async follow(transaction: Transaction, { signal }: Stop = {}): Promise<Transaction> {
        while (!ended.includes(transaction.state)) {
            if (!transaction.id) throw new TapError(200);
            const { id } = transaction;
            transaction = await this.repeat(() => this.call("getTransaction", { id, wait: 10 }, undefined, { signal }), signal);
        }
        return transaction;
    }

    /** The sale of this key; throws `idempotency.key_unknown` where it has never arrived. */
    async find(key: string, { signal }: Stop = {}): Promise<Transaction> {
        const list = await this.repeat(() => this.call("listTransactions", { key }, undefined, { signal }), signal);
        return list.transactions[0] as Transaction;
    }

    /** One call of the contract, made once: throws `TapError` for what was refused, and another error where no answer came. */
    async call<N extends Name>(
        name: N, parameters: Operations[N]["parameters"], body?: Operations[N]["body"], { signal }: Stop = {},
    ): Promise<Operations[N]["answer"]> {
        const { method, path, query, header } = operations[name] as {
            method: string; path: string; query: readonly string[]; header: readonly string[] };
        const given = Object.entries(parameters).filter(([, one]) => one !== undefined) as [string, unknown][];
        const search = new URLSearchParams(given.filter(([one]) => query.includes(one)).flatMap(([one, values]) =>
            [values].flat().map((value): [string, string] => [one, String(value)])));
        const target = path.replace(/\{(\w+)\}/g, (_, one) => encodeURIComponent(String((parameters as Record<string, unknown>)[one])));
        const headers = Object.fromEntries(given.filter(([one]) => header.includes(one)).map(([one, value]) => [one, String(value)]));
        if (body !== undefined) headers["Content-Type"] = "application/json";
        const limit = limited(patience, signal);
        try {
            const answer = await this.fetch(`${search}` ? `${target}?${search}` : target, {
                method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: limit.signal });
            const text = await answer.text();
            return (/^application\/json\b/.test(answer.headers.get("Content-Type") ?? "") ? JSON.parse(text) : text) as never;
        } catch (error) {
            signal?.throwIfAborted();
            throw error instanceof TapError || error instanceof Lost ? error : new Lost();
        } finally {
            limit.clear();
        }
    }

    /**
     * What happens, for ever, each event once and in order, behind the one with the number `after`. A connection that was lost or
     * has been silent for `silence` milliseconds is made again after 1, 2, 4 … 30 seconds. A newer daemon has events whose names are not in the contract.
     */
    async *events(
        { after, signal, silence = 45_000 }: { after?: number; silence?: number } & Stop = {},
    ): AsyncGenerator<Event, void, undefined> {
        const reader = new EventReader(after);
        for (let attempt = 0; !signal?.aborted;) {
            let wait = 0;
            const limit = limited(silence, signal);
            try {
                for await (const messages of this.stream(reader, limit)) {
                    attempt = 0;
                    for (const message of messages) {
                        const event = eventOf(message);
                        if (event) yield event;
                    }
                }
            } catch (error) {
                if (error instanceof TapError) throw error;
                if (error instanceof Lost) wait = error.after;
            } finally {
                limit.clear();
            }
            await pause(Math.max(wait, pauseAfter(attempt++)), signal);
        }
    }

    private async *stream(reader: EventReader, limit: Limit): AsyncGenerator<Message[]> {
        const headers = { Accept: "text/event-stream", ...reader.begin() };
        const answer = await this.fetch("/v1/events?vocabulary=2", { headers, signal: limit.signal });
        const body = answer.body?.getReader();
        try {
            for (let chunk = await body?.read(); chunk?.value; chunk = await body?.read()) {
                limit.again();
                yield reader.feed(chunk.value);
            }
        } finally {
            // Whoever stops listening gives the connection back.
            await body?.cancel().catch(() => undefined);
        }
    }

    private async fetch(path: string, more: RequestInit): Promise<Response> {
        const answer = await fetch(this.base + path, {
            ...more, headers: { ...more.headers, Authorization: `Bearer ${this.token}` }, cache: "no-store", credentials: "omit",
            redirect: "error" });
        if (answer.ok) {
            // A proxy's page of maintenance or sign-in says nothing of the request.
            if (/^text\/html\b/.test(answer.headers.get("Content-Type") ?? "")) throw new Lost();
            return answer;
        }
        const detail = await answer.json().then((said) => said?.error as Detail | undefined, () => undefined);
        if (isLost(answer.status, detail)) throw new Lost(1000 * (Number(answer.headers.get("Retry-After")) || 0));
        throw new TapError(answer.status, detail?.code ? detail : undefined);
    }

    /** Makes a call again as it is for as long as nothing says what became of it. */
    private async repeat<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
        for (let attempt = 0; ; attempt++) {
            try {
                return await call();
            } catch (error) {
                if (!(error instanceof Lost)) throw error;
                await pause(Math.max(error.after, pauseAfter(attempt)), signal);
                signal?.throwIfAborted();
            }
        }
    }
}

/** Changes a pairing code, in any case and with or without its dash, for this till's token. A code can be used once. */
export async function pair(address: string, code: string): Promise<string> {
    const answer = await fetch(`${address.replace(/\/+$/, "")}/v1/pairings`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }), credentials: "omit" });
    const said = await answer.json().catch(() => undefined);
    if (!answer.ok || typeof said?.token !== "string") throw new TapError(answer.status, said?.error);
    return said.token;
}

/** A new Idempotency-Key. `crypto.randomUUID` is missing on pages that came over plain HTTP. */
export function newKey(): string {
    return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isLost(status: number, detail?: Detail): boolean {
    return [408, 429, 500, 502, 504].includes(status) || (status > 500 && !detail)
        || ["daemon.unavailable", "idempotency.in_progress"].includes(detail?.code ?? "");
}

function eventOf({ name, data }: Message): Event | undefined {
    // A client that is too slow is told so, and comes again.
    if (name === "overflow") return undefined;
    try {
        return JSON.parse(data) as Event;
    } catch {
        return undefined;
    }
}

function pauseAfter(attempt: number): number {
    return 1000 * Math.min(30, 2 ** attempt);
}

async function pause(time: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
        const timer = setTimeout(done, time);
        function done(): void {
            clearTimeout(timer);
            signal?.removeEventListener("abort", done);
            resolve();
        }
        signal?.addEventListener("abort", done);
    });
}

/** Ends `time` milliseconds after it was last begun, or with `signal`. */
function limited(time: number, signal?: AbortSignal): Limit {
    const controller = new AbortController();
    const stop = (): void => controller.abort();
    let timer = setTimeout(stop, time);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    return {
        signal: controller.signal,
        clear: () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", stop);
        },
        again: () => {
            clearTimeout(timer);
            timer = setTimeout(stop, time);
        },
    };
}
