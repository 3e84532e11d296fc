// SPDX-License-Identifier: Apache-2.0
// What a shop has set at this till. It is kept in this browser, and holds nothing secret.

const place = "nfc-tap.settings";

export const defaults = {
  language: null, customerLanguage: null, currency: "EUR", cash: true, link: "", tips: false, tipRates: [5, 10, 15], donations: false,
  implied: true, sound: true, passes: false, preferred: "", lane: null, seenTutorial: false, languages: ["en", "de", "fr", "es", "it", "pl", "ar", "ja"],
  aloudAmounts: false, cashiers: [], cashier: null, taught: [],
};

export function shop() {
  try {
    return { ...defaults, ...JSON.parse(localStorage.getItem(place) ?? "{}") };
  } catch {
    return { ...defaults };
  }
}

export function setShop(changes) {
  const next = { ...shop(), ...changes };
  localStorage.setItem(place, JSON.stringify(next));
  return next;
}

// Light things only, from one window of this browser to the other: never anything of a payment.
export const whispers = globalThis.BroadcastChannel ? new BroadcastChannel("nfc-tap") : null;
