// SPDX-License-Identifier: Apache-2.0
// Sales with a real daemon in test mode, on whose reader a card lies: NFC_TAP_POS names its socket. Or NFC_TAP_TILL is the address
// of a gateway before it, and NFC_TAP_TOKEN the token of a till.
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { after, before, test } from "node:test";
import { Tap, TapError, newKey } from "nfc-tap";

let address;
const servers = [];

/** Forwards connections to the daemon or its gateway; the first `lost` answers to a new sale are carried out and lost. */
async function relay(lost = 0) {
    const server = createServer((client) => {
        const daemon = process.env.NFC_TAP_TILL
            ? connect(Number(new URL(process.env.NFC_TAP_TILL).port), "127.0.0.1") : connect(process.env.NFC_TAP_POS);
        let begins = false;
        client.on("data", (bytes) => {
            begins = String(bytes).startsWith("POST /v1/transactions ") || (begins && !/^(GET|DELETE) /.test(String(bytes)));
            // The gateway answers to its own name only.
            daemon.write(process.env.NFC_TAP_TILL
                ? Buffer.from(String(bytes).replace(/^Host: .*$/im, `Host: ${new URL(process.env.NFC_TAP_TILL).host}`)) : bytes);
        });
        daemon.on("data", (bytes) => begins && lost-- > 0 ? client.destroy() : client.write(bytes));
        for (const [one, other] of [[client, daemon], [daemon, client]]) one.on("close", () => other.destroy()).on("error", () => other.destroy());
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    servers.push(server);
    return `http://127.0.0.1:${server.address().port}`;
}

const token = process.env.NFC_TAP_TOKEN ?? "nt1.none.x";
const till = () => new Tap(address, token);
before(async () => { address = process.env.NFC_TAP_TILL ?? await relay(); });
after(() => servers.forEach((server) => server.close()));

test("a sale is approved, found by its key, and the same when it is asked for again; the sandbox's odd cents decline", async () => {
    const key = newKey();
    const sale = await till().pay(1250, "EUR", { key, order: `T-${key.slice(0, 8)}` });
    assert.equal(sale.state, "approved");
    assert.match(sale.card.masked, /0010$/);
    assert.equal((await till().pay(1250, "EUR", { key, order: `T-${key.slice(0, 8)}` })).id, sale.id);
    assert.equal((await till().find(key)).id, sale.id);
    assert.equal((await till().pay(1251, "EUR")).state, "declined");
});

test("a sale whose answers are lost is charged once", async () => {
    const key = newKey();
    const sale = await new Tap(await relay(2), token).pay(1600, "EUR", { key });
    assert.equal(sale.state, "approved");
    assert.equal((await till().find(key)).id, sale.id);
});

test("what a caller did wrong is thrown with a remedy", async () => {
    await assert.rejects(till().pay(0, "EUR"), (error) => error instanceof TapError && [400, 422].includes(error.status)
        && error.resolution.length > 10 && !error.retryable);
    await assert.rejects(till().find(newKey()), { code: "idempotency.key_unknown", status: 404 });
});

test("a held payment is captured, and its events come in order behind a cursor", async () => {
    const held = await till().pay(2000, "EUR", { amountStatus: "preauthorized" });
    const done = await till().call("capturePayment", { id: held.id, "Idempotency-Key": newKey(), Prefer: "wait=10" }, {});
    assert.equal(done.state, "done");
    const names = [];
    let cursor = 0;
    for await (const event of till().events({ after: 0 })) {
        if (event.name === "events.missed") continue;
        assert.ok(event.id > cursor);
        cursor = event.id;
        if (event.transaction === held.id) names.push(event.name);
        if (event.name === "operation.done" && event.transaction === held.id) break;
    }
    assert.deepEqual(names.filter((name) => /^payment|^operation/.test(name)), ["payment.authorizing", "payment.approved", "operation.done"]);
    for await (const event of till().events({ after: cursor - 1 })) {
        assert.equal(event.id, cursor);
        break;
    }
});

test("the example of the README pays", async () => {
    globalThis.localStorage = { till: token };
    const said = [];
    const { log } = console;
    const { fetch } = globalThis;
    globalThis.fetch = (target, more) => fetch(target.replace("http://127.0.0.1:8716", address), {
        ...more, body: more.body?.replace("A-17", `A-${newKey().slice(0, 8)}`) });
    console.log = (text) => said.push(text);
    try {
        await import("../example.js");
    } finally {
        Object.assign(globalThis, { fetch });
        console.log = log;
    }
    assert.match(said.join("\n"), /^Visa .*0010 paid$/);
});
