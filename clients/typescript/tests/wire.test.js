// SPDX-License-Identifier: Apache-2.0
// A server that cuts, repeats, splits and refuses, as gateways and networks do.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { Tap, TapError, pair } from "nfc-tap";
import { EventReader } from "../sse.js";

const TOKEN = "nt1.bar-1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const ID = "019aab00-0000-7000-8000-000000000001";
const sale = (state) => ({ id: ID, type: "purchase", mode: "test", state, lane: "main", history: [] });
const refusal = (code, more) => ({ error: { code, message: "Said no", resolution: "Do this", retryable: false, who: "cashier", docs: "", ...more } });

/** Serves with `answer(request, response, body)`, and gives `use` a till and all requests so far. */
async function serving(answer, use) {
    const seen = [];
    const server = createServer(async (request, response) => {
        let body = "";
        for await (const piece of request) body += piece;
        seen.push({ method: request.method, url: request.url, headers: request.headers, body, response });
        answer(seen.length, request, response, body);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${server.address().port}`;
    try {
        await use(new Tap(address, TOKEN), seen, address);
    } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
    }
}

function say(response, status, value, headers = {}) {
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
}

test("events are the same wherever their bytes are cut, within a character or between the two bytes of a line's end", () => {
    const bytes = new TextEncoder().encode(
        "\uFEFF: hello\r\n\r\nid: 7\r\nevent: read.retry\r\ndata: {\"customerText\":\r\ndata:\"Noch einmal, für 5 €, 再\"}\r\n\r\n"
        + "id: 8\rdata: one\r\rid: nine\ndata\nretry: 5\n\nevent: nothing\n\ndata: last\n\ndata: half");
    const whole = new EventReader().feed(bytes);
    assert.deepEqual(whole, [
        { name: "read.retry", data: "{\"customerText\":\n\"Noch einmal, für 5 €, 再\"}" }, { name: "message", data: "one" },
        { name: "message", data: "" }, { name: "message", data: "last" }]);
    for (let cut = 0; cut <= bytes.length; cut++) {
        const reader = new EventReader();
        assert.deepEqual([...reader.feed(bytes.slice(0, cut)), ...reader.feed(bytes.slice(cut))], whole, `cut at ${cut}`);
    }
    const reader = new EventReader();
    assert.deepEqual([...bytes].flatMap((byte) => reader.feed(Uint8Array.of(byte))), whole);
});

test("an event that broke off does not move the cursor", () => {
    const reader = new EventReader(4);
    const feed = (text) => reader.feed(new TextEncoder().encode(text));
    assert.deepEqual(feed("id: 5\ndata: fi"), []);
    assert.deepEqual(reader.begin(), { "Last-Event-ID": "4" });
    assert.deepEqual(feed("id: 5\ndata: five\n\nid: 6\n"), [{ name: "message", data: "five" }]);
    assert.deepEqual(reader.begin(), { "Last-Event-ID": "5" });
    assert.deepEqual(new EventReader().begin(), {});
});

test("T50: a sale is asked for under one key and with one body until it has an end, whatever became of the answers", async () => {
    const steps = [
        (response) => response.destroy(),
        (response) => say(response, 502, refusal("daemon.unavailable", { retryable: true })),
        (response) => say(response, 429, refusal("request.too_often", { retryable: true }), { "Retry-After": "1" }),
        (response) => response.writeHead(500, { "Content-Type": "text/html" }).end("<h1>oops</h1>"),
        (response) => response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end("<h1>Back soon</h1>"),
        (response) => response.writeHead(408, { "Content-Type": "text/html" }).end("<h1>408 Request Time-out</h1>"),
        (response) => say(response, 201, sale("created")),
        (response) => response.writeHead(200, { "Content-Type": "application/json", "Content-Length": "99" }).write("{", () => response.destroy()),
        (response) => say(response, 409, refusal("idempotency.in_progress", { retryable: true })),
        (response) => say(response, 200, sale("unknown")),
        (response) => say(response, 200, sale("approved")),
    ];
    await serving((count, _, response) => steps[count - 1](response), async (tap, seen) => {
        assert.equal((await tap.pay(1250, "EUR", { order: "A-17", key: "mine" })).state, "approved");
        assert.equal(seen.length, steps.length);
        const [first, ...posts] = seen.slice(0, 7);
        assert.deepEqual(JSON.parse(first.body), { type: "purchase", amount: { value: 1250, currency: "EUR" }, order: "A-17" });
        for (const post of [first, ...posts]) {
            assert.deepEqual([post.method, post.url, post.body], ["POST", "/v1/transactions", first.body]);
            assert.equal(post.headers["idempotency-key"], "mine");
            assert.match(post.headers["content-type"], /^application\/json\b/);
        }
        for (const get of seen.slice(7)) assert.deepEqual([get.method, get.url, get.body], ["GET", `/v1/transactions/${ID}?wait=10`, ""]);
        for (const { headers } of seen) {
            assert.equal(headers.authorization, `Bearer ${TOKEN}`);
            assert.equal(headers.cookie, undefined);
        }
    });
});

test("what was refused is thrown at once, and asked for once", async () => {
    for (const [status, code] of [
        [401, "token.unknown"], [403, "auth.role_missing"], [409, "order.unresolved"], [409, "reader.busy"], [422, "amount.too_large"],
        [503, "reader.detached"], [507, "storage.full"]]) {
        await serving((_, __, response) => say(response, status, refusal(code)), async (tap, seen) => {
            await assert.rejects(tap.pay(1250, "EUR"), (error) => error instanceof TapError && error.code === code
                && error.status === status && error.resolution === "Do this" && !error.retryable);
            assert.equal(seen.length, 1, code);
        });
    }
    await serving((_, __, response) => say(response, 200, { hello: "stranger" }), async (tap, seen) => {
        await assert.rejects(tap.pay(1250, "EUR"), (error) => error instanceof TapError && error.code === "client.unexpected_answer");
        assert.equal(seen.length, 1);
    });
});

test("each sale has a key of its own, and ends that are no approval are values", async () => {
    await serving((count, _, response) => say(response, 201, sale(["declined", "cancelled", "reversing"][count - 1])), async (tap, seen) => {
        assert.deepEqual([(await tap.pay(1, "EUR")).state, (await tap.pay(1, "EUR")).state, (await tap.pay(1, "EUR")).state], [
            "declined", "cancelled", "reversing"]);
        const keys = seen.map(({ headers }) => headers["idempotency-key"]);
        assert.equal(new Set(keys).size, 3);
        for (const key of keys) assert.match(key, /^[0-9a-f]{32}$/);
    });
});

test("a signal ends the asking", async () => {
    await serving((_, __, response) => response.destroy(), async (tap) => {
        const stop = new AbortController();
        setTimeout(() => stop.abort(), 100);
        await assert.rejects(tap.pay(1250, "EUR", { signal: stop.signal }), { name: "AbortError" });
        for await (const event of tap.events({ signal: stop.signal })) assert.fail(event);
    });
});

test("parameters go where the contract has them", async () => {
    await serving((_, __, response) => say(response, 200, { transactions: [], operations: [] }), async (tap, seen) => {
        await tap.call("listTransactions", { order: "A 1&2", state: ["approved", "stored"] });
        await tap.call("getLane", { lane: "a/b" });
        await tap.call("capturePayment", { id: ID, "Idempotency-Key": "k", Prefer: "wait=5" }, {});
        assert.deepEqual(seen.map(({ method, url, body }) => [method, url, body]), [
            ["GET", "/v1/transactions?order=A+1%262&state=approved&state=stored", ""], ["GET", "/v1/lanes/a%2Fb", ""],
            ["POST", `/v1/transactions/${ID}/captures`, "{}"]]);
        assert.deepEqual([seen[2].headers["idempotency-key"], seen[2].headers.prefer], ["k", "wait=5"]);
    });
});

test("events go on behind the last whole one, each once, over cuts, silence and a gateway that is away", async () => {
    const event = (id) => `id: ${id}\nevent: read.retry\ndata: ${JSON.stringify({ id, name: "read.retry", customerText: "für €" })}\n\n`;
    const cut = Buffer.from(event(2)).subarray(0, Buffer.from(event(2)).indexOf("€") + 1);
    const steps = [
        (response) => response.write(Buffer.concat([Buffer.from(`: hi\n\n${event(1)}`), cut]), () => setTimeout(() => response.destroy(), 50)),
        (response) => say(response, 502, refusal("daemon.unavailable")),
        (response) => response.writeHead(200, { "Content-Type": "text/html" }).end(`<h1>Back soon</h1>\n${event(9)}`),
        (response) => response.write(`${event(2)}id: 3\nevent: read.retry\ndata: no JSON\n\nevent: overflow\ndata: {}\n\n`, () => response.end()),
        (response) => response.write(event(4)),
        (response) => response.write(event(5)),
    ];
    await serving((count, _, response) => {
        if (count !== 2 && count !== 3) response.writeHead(200, { "Content-Type": "text/event-stream" });
        steps[count - 1](response);
    }, async (tap, seen) => {
        const ids = [];
        for await (const { id, customerText } of tap.events({ after: 0, silence: 500 })) {
            assert.equal(customerText, "für €");
            ids.push(id);
            if (id === 5) break;
        }
        assert.deepEqual(ids, [1, 2, 4, 5]);
        assert.deepEqual(seen.map(({ headers }) => headers["last-event-id"]), ["0", "1", "1", "1", "3", "4"]);
        assert.equal(seen[0].url, "/v1/events?vocabulary=2");
        // Whoever leaves the loop gives the connection back.
        const last = seen.at(-1).response;
        if (!last.destroyed) await new Promise((resolve) => last.once("close", resolve));
    });
});

test("events that are refused are thrown", async () => {
    await serving((_, __, response) => say(response, 401, refusal("token.unknown")), async (tap, seen) => {
        await assert.rejects(tap.events().next(), (error) => error instanceof TapError && error.code === "token.unknown");
        assert.equal(seen.length, 1);
    });
});

test("a code is changed for a token once, and a used code says so", async () => {
    await serving((count, _, response) => count === 1 ? say(response, 201, { token: TOKEN }) : say(response, 410, refusal("pairing.used")),
        async (_, seen, address) => {
            assert.equal(await pair(`${address}/`, "K7QM-2HXV"), TOKEN);
            await assert.rejects(pair(address, "K7QM-2HXV"), (error) => error instanceof TapError && error.code === "pairing.used");
            assert.deepEqual(seen.map(({ method, url, body }) => [method, url, body]), Array(2).fill(
                ["POST", "/v1/pairings", "{\"code\":\"K7QM-2HXV\"}"]));
        });
});
