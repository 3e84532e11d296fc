// SPDX-License-Identifier: Apache-2.0
// Message files: the best match, English key by key for what is missing, placeholders.

export const languages = {
  en: "English", de: "Deutsch", fr: "Français", es: "Español", it: "Italiano", nl: "Nederlands", pl: "Polski", pt: "Português",
  sv: "Svenska", tr: "Türkçe", ar: "العربية", ja: "日本語",
};

// Those that a speaker has read; whoever chooses another is told so.
export const checked = ["en", "de"];

// The exact tag, then the tag without its last parts, then English.
export function bestMatch(wanted, offered = Object.keys(languages)) {
  for (const tag of wanted) {
    const parts = tag.split("-");
    while (parts.length) {
      const found = offered.find((one) => one.toLowerCase() === parts.join("-").toLowerCase());
      if (found) return found;
      parts.pop();
    }
  }
  return "en";
}

export function direction(language) {
  return language.split("-")[0] === "ar" ? "rtl" : "ltr";
}

// The tag that amounts and times are written by: the browser's own where it is the same language, with its country.
export function locale(language, preferred) {
  return preferred?.split("-")[0] === language ? preferred : language;
}

export function speaker(language, messages, english, log = () => {}) {
  const gaps = new Set();
  return function say(key, values = {}) {
    if (!(key in messages) && !gaps.has(key)) {
      gaps.add(key);
      log(`No text ${key} in ${language}`);
    }
    const text = messages[key] ?? english[key] ?? key;
    return text.replace(/\{([a-zA-Z]+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
  };
}

const kept = {};

async function read(language, base) {
  kept[language] ??= fetch(`${base}messages/${language}.json`).then((answer) => {
    if (!answer.ok) throw new Error(`messages/${language}.json: ${answer.status}`);
    return answer.json();
  });
  return kept[language].catch((failure) => {
    delete kept[language];
    throw failure;
  });
}

export async function load(language, base = "/till/") {
  const english = await read("en", base);
  const messages = await read(language, base).catch(() => english);
  const say = speaker(language, messages, english, (gap) => console.warn(gap));
  say.language = language;
  say.locale = locale(language, globalThis.navigator?.language);
  return say;
}
