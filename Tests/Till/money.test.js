// SPDX-License-Identifier: Apache-2.0
// Decimals are ISO 4217's; how a locale writes an amount is CLDR's, as Chromium and node have it.
import test from "node:test";
import assert from "node:assert/strict";
import { decimalsOf, money, parseAmount, percentOf, plain, sum, useDecimals } from "../../share/till/money.js";

// Blanks that do not break, and marks of direction, differ between versions of CLDR.
const flat = (text) => text.replace(/[\u00A0\u202F]/g, " ").replace(/[\u200E\u200F\u061C]/g, "");

// Versions of CLDR do not agree whether four digits have a group in these languages; both are read alike.
const ungrouped = (text, locale) => (/^(es|it|pl|pt|hu)\b/.test(locale) ? text.replace(/^(\d)[. ](\d{3}\b)/, "$1$2") : text);

test("minor units become a string without any fraction in binary", () => {
  for (const [value, currency, text] of [[1250, "EUR", "12.50"], [5, "EUR", "0.05"], [0, "EUR", "0.00"], [-5, "EUR", "-0.05"], [1250, "JPY", "1250"],
    [1250, "BHD", "1.250"], [1, "BHD", "0.001"], [999999999, "EUR", "9999999.99"], [999999999999, "EUR", "9999999999.99"], [12345, "CLF", "1.2345"]]) assert.equal(plain({ value, currency }), text);
});

test("amounts are written as each language writes them", () => {
  const euro = { value: 123450, currency: "EUR" }, yen = { value: 1250, currency: "JPY" }, dinar = { value: 1250, currency: "BHD" };
  const table = { "en-GB": ["€1,234.50", "JP¥1,250", "BHD 1.250"], "de-DE": ["1.234,50 €", "1.250 ¥", "1,250 BHD"], "fr-FR": ["1 234,50 €", "1 250 JPY", "1,250 BHD"],
    "es-ES": ["1234,50 €", "1250 JPY", "1,250 BHD"], "it-IT": ["1234,50 €", "1250 JPY", "1,250 BHD"], "pl-PL": ["1234,50 €", "1250 JPY", "1,250 BHD"],
    "pt-PT": ["1234,50 €", "1250 JP¥", "1,250 BHD"], "nl-NL": ["€ 1.234,50", "JP¥ 1.250", "BHD 1,250"], "sv-SE": ["1 234,50 €", "1 250 JPY", "1,250 BHD"],
    "tr-TR": ["€1.234,50", "¥1.250", "BHD 1,250"], "ja-JP": ["€1,234.50", "￥1,250", "BHD 1.250"], "ar-AE": ["1,234.50 €"] };
  for (const [locale, texts] of Object.entries(table)) {
    [euro, yen, dinar].slice(0, texts.length).forEach((amount, place) => assert.equal(ungrouped(flat(money(amount, locale)), locale), texts[place], `${locale} ${amount.currency}`));
  }
});

test("the browser never chooses the decimals: CLDR has others than ISO 4217 for these", () => {
  const differing = { AFN: 2, ALL: 2, COP: 2, HUF: 2, IDR: 2, IQD: 3, IRR: 2, KPW: 2, LAK: 2, LBP: 2, MGA: 2, MMK: 2, PKR: 2, RSD: 2, SOS: 2, SYP: 2, YER: 2 };
  for (const [currency, count] of Object.entries(differing)) {
    assert.equal(decimalsOf(currency), count, currency);
    const fraction = new Intl.NumberFormat("en", { style: "currency", currency, minimumFractionDigits: count }).resolvedOptions().minimumFractionDigits;
    assert.equal(fraction, count);
    assert.match(money({ value: 1, currency }, "en"), new RegExp(`0\\.0{${count - 1}}1$`), currency);
  }
  assert.equal(ungrouped(flat(money({ value: 123450, currency: "HUF" }, "hu")), "hu"), "1234,50 Ft");
});

test("the daemon's decimals come before the page's", () => {
  useDecimals({ EUR: 3 });
  assert.equal(plain({ value: 1250, currency: "EUR" }), "1.250");
  useDecimals(undefined);
  assert.equal(plain({ value: 1250, currency: "EUR" }), "12.50");
});

test("input is forgiving, and never guessed", () => {
  const euro = [["12,50", 1250], ["12.50", 1250], [" 12 , 50 ", 1250], ["€ 12.50", 1250], ["12,50 EUR", 1250], ["1.234,50", 123450], ["1,234.50", 123450], ["1'234.50", 123450],
    ["1\u202F234,50", 123450], ["١٢٫٥٠", 1250], ["１２．５０", 1250], ["12,5", 1250], ["12,", 1200], [",50", 50], ["0", 0], ["0,05", 5], ["-3,00", -300], ["−3,00", -300],
    ["1,234,567", 123456700], ["1.234", null], ["12,345", null], ["12,50,00", null], ["1,2,3", null], ["abc", null], ["12a", null], ["", null], ["-", null],
    ["10000000000", null], ["99999999999,99", null], ["9999999999,99", 999999999999], ["1e3", null], ["0x10", null], ["1-2", null], ["--1", null]];
  for (const [text, value] of euro) assert.equal(parseAmount(text, "EUR", false), value, text);
  for (const [text, value] of [["1250", 1250], ["5", 5], ["12,50", 1250], ["00012", 12]]) assert.equal(parseAmount(text, "EUR", true), value, `${text} implied`);
  assert.equal(parseAmount("1250", "EUR", false), 125000);
  for (const [text, value] of [["1250", 1250], ["1,250", 1250], ["1.250", 1250], ["12.5", null]]) assert.equal(parseAmount(text, "JPY", false), value, `${text} JPY`);
  for (const [text, value] of [["1.250", 1250], ["1,25", 1250], ["1.2505", null]]) assert.equal(parseAmount(text, "BHD", false), value, `${text} BHD`);
});

test("what is written can be typed again", () => {
  for (const currency of ["EUR", "JPY", "BHD"]) for (const value of [1, 99, 1250, 123456, 999999999999]) {
    assert.equal(parseAmount(plain({ value, currency }), currency, false), value, `${value} ${currency}`);
  }
});

test("tips are rounded half up, sums are whole numbers", () => {
  assert.equal(percentOf({ value: 1250, currency: "EUR" }, 5).value, 63);
  assert.equal(percentOf({ value: 1249, currency: "EUR" }, 10).value, 125);
  assert.equal(sum([{ amount: { value: 1000 } }, { amount: { value: -250 } }, { amount: { value: 0 } }]), 750);
  // What is due later is not charged now.
  assert.equal(sum([{ amount: { value: 1000 } }, { amount: { value: 5000 }, kind: "deferred" }]), 1000);
});
