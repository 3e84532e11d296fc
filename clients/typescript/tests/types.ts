// SPDX-License-Identifier: Apache-2.0
// What the types have to refuse: each line below would compile if the type that it names had become `any`.
import { Tap } from "nfc-tap";
import type { ErrorCode, Event, Transaction } from "nfc-tap";

export async function wrong(tap: Tap, sale: Transaction, event: Event): Promise<void> {
    // @ts-expect-error An amount is a number.
    await tap.pay("1250", "EUR");
    // @ts-expect-error There is no such member.
    await tap.pay(1250, "EUR", { ordre: "A-17" });
    // @ts-expect-error There is no such state.
    if (sale.state === "aproved") return;
    // @ts-expect-error There is no such event.
    if (event.name === "payment.aproved") return;
    // @ts-expect-error The card may be missing.
    sale.card.masked.trim();
    // @ts-expect-error A capture needs a key.
    await tap.call("capturePayment", { id: sale.id }, { final: true });
    // @ts-expect-error A sum needs a currency.
    await tap.call("capturePayment", { id: sale.id, "Idempotency-Key": "1" }, { amount: { value: 1 } });
    // @ts-expect-error There is no such call.
    await tap.call("capturePayments", {});
    // @ts-expect-error There is no such code.
    const code: ErrorCode = "reader.bussy";
    const status = await tap.call("getStatus", {});
    // @ts-expect-error The status has lanes, which are a list.
    status.lanes.name.trim();
    console.log(code);
}
