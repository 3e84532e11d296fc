// SPDX-License-Identifier: Apache-2.0
// Where the customer's receipt goes, typed with keys of the page's own: a kiosk has no keyboard. What is typed stays in the field.
import { addressOf } from "./ledger.js";
import { button, field, h, show } from "./view.js";

const rows = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "@.-_+"];

// `send` takes {email} or {phone} and fails as a call of the gateway does; `leave` closes the dialog.
export function addressEntry(place, say, send, leave) {
  const told = h("p", { id: "address-told", role: "status" });
  const address = h("input", { id: "address", autocomplete: "off", autocapitalize: "none", spellcheck: "false", inputMode: "none", dir: "ltr", maxLength: 254, "aria-describedby": "address-told",
    oninput: () => { told.textContent = ""; }, onkeydown: (event) => event.key === "Enter" && go() });
  const change = (value) => {
    if (address.disabled) return;
    address.value = value.slice(0, 254);
    told.textContent = "";
  };
  const go = async () => {
    const wish = addressOf(address.value);
    if (!wish || address.disabled) {
      if (!wish) told.textContent = say("entry.address");
      return;
    }
    address.disabled = true;
    try {
      await send(wish);
      address.value = "";
    } catch (failure) {
      told.textContent = failure.error?.message ?? say("till.offline");
    }
    address.disabled = false;
  };
  const key = (letter) => button(letter, () => change(address.value + letter), "key", { dir: "ltr" });
  show(place, h("h2", { id: "dialog-title" }, say("receipt.send")), field(say("receipt.address"), address), told,
    h("div", { class: "keys", dir: "ltr" }, rows.map((row, at) => h("div", {}, [...row].map(key),
      at === rows.length - 1 && button("⌫", () => change(address.value.slice(0, -1)), "key", { "aria-label": say("display.delete") })))),
    h("div", { class: "actions" }, button(say("receipt.send"), go, "primary", { id: "address-send" }), button(say("till.close"), leave, "plain")));
}
