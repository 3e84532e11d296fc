// SPDX-License-Identifier: Apache-2.0
// The tutorial: one part for each kind of read that this till's readers do, PIN, a try-out, and at the end the terms.
import { holdingDrawing, pinDrawing } from "./drawings.js";
import { Gateway } from "./gateway.js";
import { bestMatch, direction, load } from "./language.js";
import { termsPart } from "./settings.js";
import { shop } from "./shop.js";
import { dress, h, show } from "./view.js";

const gateway = new Gateway("nfc-tap.token");
const say = await load(bestMatch([shop().language, ...(navigator.languages ?? [])].filter(Boolean)));
gateway.language = say.language;
dress(say, say("learn.title"));

// Without a token there is nothing to ask: five refusals in a minute would lock this machine out.
const ask = async (path) => (gateway.token ? gateway.call("GET", path).then(({ body }) => body, () => null) : null);
const [till, status, holding] = await Promise.all([ask("/v1/till"), ask("/v1/status"), ask("/v1/help/holding")]);
const lanes = (status?.lanes ?? []).filter((lane) => !till || till.lanes.includes(lane.name));
const does = (type) => lanes.some((lane) => lane.features.includes(type));
const part = (key, ...more) => h("section", { id: key }, h("h2", {}, say(`learn.${key}Title`)), h("p", {}, say(`learn.${key}`)), more);
const link = (text, href, kind) => h("a", { class: `button ${kind}`, href }, text);

document.getElementById("shop").textContent = status?.profile?.displayName ?? till?.till ?? "nfc-tap";
document.getElementById("test").textContent = say("test");
document.getElementById("test").hidden = status?.mode !== "test";
show(document.getElementById("main"), h("article", { class: "panel" },
  h("h1", {}, say("learn.title")),
  h("div", { class: "learn" },
    does("purchase") && part("pay"), does("refund") && part("refund"), does("verification") && part("check"), does("loyalty") && part("pass"),
    part("hold", holding?.readers?.length > 0 && h("ul", { lang: holding.language, dir: direction(holding.language) }, holding.readers.map((one) => h("li", {}, `${one.model}: ${one.hold}`, holdingDrawing(one.place, one.hold))))),
    part("ends"), part("pin", pinDrawing("terminal", say("chip")), h("p", {}, say("learn.pinDevice")), pinDrawing("device", say("pin"))),
    h("section", { id: "try" }, h("h2", {}, say("learn.tryTitle")), h("p", {}, say(status?.mode === "live" ? "learn.tryLive" : "learn.try")),
      status?.mode === "test" && link(say("learn.tryDo"), "/till/#try", "plain"))),
  status && termsPart({ say, status }),
  h("div", { class: "actions" }, link(say("learn.done"), "/till/", "primary"))));
