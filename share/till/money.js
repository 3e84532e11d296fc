// SPDX-License-Identifier: Apache-2.0
// Minor units to text and back. Strings and whole numbers only: no amount is ever a fraction in binary.

// Decimals of ISO 4217 that are not two. The daemon's table, sent with GET /v1/till, comes before this one; the
// browser's own table is never asked, because it differs in seventeen currencies.
const exceptions = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};
let told = {};

export function useDecimals(table) {
  told = table ?? {};
}

export function decimalsOf(currency) {
  if (Number.isInteger(told[currency])) return told[currency];
  for (const [count, codes] of Object.entries(exceptions)) if (codes.split(" ").includes(currency)) return Number(count);
  return 2;
}

// 123450 and EUR are "1234.50".
export function plain({ value, currency }) {
  const decimals = decimalsOf(currency);
  const digits = String(Math.abs(value)).padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  return (value < 0 ? "-" : "") + whole + (decimals ? "." + digits.slice(-decimals) : "");
}

export function money(amount, locale) {
  const decimals = decimalsOf(amount.currency);
  return new Intl.NumberFormat(locale, {
    style: "currency", currency: amount.currency, minimumFractionDigits: decimals, maximumFractionDigits: decimals,
  }).format(plain(amount));
}

export const largest = 999999999999;

// What a person typed or pasted: minor units, or null where it is no amount or could be two. With `implied`, digits
// alone are minor units: "1250" is 12.50.
export function parseAmount(text, currency, implied) {
  const decimals = decimalsOf(currency);
  const typed = text.normalize("NFKC")
    .replace(/[\u0660-\u0669\u06F0-\u06F9]/g, (digit) => String((digit.charCodeAt(0) - 0x30) & 0xF))
    .replace(/\u066B/g, ".").replace(/\u066C/g, ",").replace(/[\u2212\u2013]/g, "-")
    .replace(/\p{Sc}|\p{Cf}|\s|['\u2019]|\b[A-Z]{3}\b/gu, "");
  const parts = /^(-?)(\d[\d.,]*|[.,]\d+)(-?)$/.exec(typed);
  if (!parts || (parts[1] && parts[3])) return null;
  const [whole, fraction] = split(parts[2], decimals);
  if (whole === null || fraction.length > decimals) return null;
  const digits = implied && !/[.,]/.test(parts[2]) ? whole : whole + fraction.padEnd(decimals, "0");
  const value = Number(digits.replace(/^0+(?=\d)/, ""));
  if (!(value <= largest)) return null;
  return value && (parts[1] || parts[3]) ? -value : value;
}

// The last sign divides, unless it can only be a group's: it stands twice, or the currency has no decimals. "1.234"
// with two decimals could be either, and is refused.
function split(text, decimals) {
  const signs = text.match(/[.,]/g) ?? [];
  const last = signs.at(-1);
  const alone = signs.filter((sign) => sign === last).length === 1;
  const divides = last && alone && decimals > 0;
  const cut = divides ? text.lastIndexOf(last) : text.length;
  const whole = text.slice(0, cut);
  const groups = whole.split(/[.,]/);
  const grouped = groups.length === 1
    || (new Set(whole.match(/[.,]/g)).size === 1 && /^\d{1,3}$/.test(groups[0]) && groups.slice(1).every((g) => /^\d{3}$/.test(g)));
  return grouped ? [groups.join("") || "0", text.slice(cut + 1)] : [null, ""];
}

export function percentOf(amount, percent) {
  return { value: Math.floor((amount.value * percent + 50) / 100), currency: amount.currency };
}

// What is charged now: a line that is due later takes no part.
export function sum(lines) {
  return lines.reduce((total, line) => (line.kind === "deferred" ? total : total + line.amount.value), 0);
}
