// SPDX-License-Identifier: Apache-2.0
// Pays through a proxy (hw_proxy) with the code of OCA's pos_payment_terminal, as it is published, and without a point of sale:
//
//     node oca-terminal.mjs SCRIPT URL ORIGIN ORDER PAYMENT AMOUNT [again]
//
// SCRIPT is the module's payment_terminal.esm.js. Prints what the cashier's screen would hold, a line of JSON. With `again` the
// button is pressed a second time while the first payment runs.
import { readFileSync } from "node:fs";

const [script, url, origin, order, payment, amount, again] = process.argv.slice(2);
const source = readFileSync(script, "utf8").replace(/^import .*$/gm, "").replace("export class", "class");

class PaymentInterface {
    constructor(pos, method) {
        Object.assign(this, { pos, payment_method_id: method, env: { services: { dialog: { add: (_, what) => shown.push(what.body) } } } });
    }
    async send_payment_request() {}
    send_payment_cancel() {}
}

const shown = [];
let number = 0;

async function message(name, params) {
    // Of this call: after a second press two of them wait at a time.
    const id = ++number;
    const answer = await fetch(`${url}/hw_proxy/${name}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Origin: origin },
        body: JSON.stringify({ id, jsonrpc: "2.0", method: "call", params }),
    });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const body = await answer.json();
    if (body.id !== id) throw new Error("answer to another call");
    return body.result;
}

const line = {
    amount: Number(amount), status: "", payment_method_id: {},
    set_payment_status(status) { this.status = status; },
};
const pos = {
    currency: { name: "EUR" },
    get_order: () => ({ name: order, get_selected_paymentline: () => line }),
    getPendingPaymentLine: () => line,
    hardwareProxy: { message },
};

const make = new Function(
    "PaymentInterface", "AlertDialog", "_t", "register_payment_method", `${source}; return OCAPaymentTerminal;`);
const OCAPaymentTerminal = make(PaymentInterface, null, (text) => text, () => {});
const terminal = new OCAPaymentTerminal(pos, { oca_payment_terminal_mode: "card" });

const hello = await fetch(`${url}/hw_proxy/hello`, { headers: { Origin: origin } });
const handshake = hello.ok && (await message("handshake", {}));
let result = terminal.send_payment_request(payment);
if (again) {
    // Once the till knows the first press by its number, or that it failed.
    let isOver = false;
    result.then(() => { isOver = true; }, () => { isOver = true; });
    while (!line.terminal_transaction_id && !isOver) await new Promise((done) => setTimeout(done, 20));
    const first = line.terminal_transaction_id;
    result = Promise.all([result, terminal.send_payment_request(payment)]).then(([one, other]) => {
        if (line.terminal_transaction_id !== first) throw new Error("the second press began another payment");
        return one && other;
    });
}
result = await result.catch((error) => (error ? `${error.message}` : "rejected"));
console.log(JSON.stringify({
    handshake, result, line: line.status, transaction: line.terminal_transaction_id ?? null,
    success: line.terminal_transaction_success ?? null, status: line.terminal_transaction_status ?? null, shown,
}));
process.exit(0);
