// SPDX-License-Identifier: Apache-2.0
// The one place that talks to nfc-tap-gateway: calls with the token, and its stream of events.

export class Lost extends Error {}

export class Refused extends Error {
  constructor(status, error) {
    super(error.message ?? String(status));
    this.status = status;
    this.error = error;
  }
}

export const pause = (attempt) => Math.min(30, 2 ** attempt) * 1000;
export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Sixteen random bytes. randomUUID is missing on pages without TLS, this is not.
export function newKey(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return prefix + "/" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Gateway {
  // `place` is the name under which this page's token is kept.
  constructor(place, whenForgotten) {
    this.place = place;
    this.whenForgotten = whenForgotten;
    this.language = "en";
    this.skew = 0;
  }

  get token() {
    return localStorage.getItem(this.place);
  }

  set token(token) {
    if (token) localStorage.setItem(this.place, token);
    else localStorage.removeItem(this.place);
  }

  // The service's time: a tablet's own clock may be wrong.
  now() {
    return Date.now() + this.skew;
  }

  async pair(code) {
    const { body } = await this.call("POST", "/v1/pairings", { body: JSON.stringify({ code }), open: true });
    this.token = body.token;
    return body;
  }

  // One attempt. Answers {status, body}, with the language of a text, throws Refused with the service's own error, or Lost where nobody knows.
  async call(method, path, { body, key, accept = "application/json", open = false } = {}) {
    const headers = { Accept: accept, "Accept-Language": this.language };
    if (!open) headers.Authorization = `Bearer ${this.token}`;
    if (body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    let answer, text;
    try {
      answer = await fetch(path, {
        method, headers, body, cache: "no-store", signal: AbortSignal.timeout(20000),
      });
      text = await answer.text();
    } catch (failure) {
      throw new Lost(String(failure));
    }
    const date = Date.parse(answer.headers.get("Date") ?? "");
    // The header is cut to whole seconds.
    if (!Number.isNaN(date) && Math.abs(date + 500 - this.now()) > 2000) this.skew = date + 500 - Date.now();
    if (answer.ok) {
      if (answer.headers.get("NFC-Tap-Token-Rotate") && !this.rotating) this.rotate();
      if (!/json/.test(answer.headers.get("Content-Type") ?? "")) {
        // A proxy's page of maintenance or sign-in comes with 200 as well.
        if (answer.status !== 204 && accept === "application/json") throw new Lost("not the service's own words");
        return { status: answer.status, body: text, language: answer.headers.get("Content-Language") };
      }
      try {
        return { status: answer.status, body: JSON.parse(text) };
      } catch (failure) {
        throw new Lost(String(failure));
      }
    }
    throw this.refusal(answer.status, text, open);
  }

  refusal(status, text, open) {
    try {
      const { error } = JSON.parse(text);
      if (status === 401 && !open && error) this.whenForgotten?.();
      if (error?.code) return new Refused(status, error);
    } catch { /* not the service's own words: whoever said it does not know what became of the request */ }
    return new Lost(String(status));
  }

  async rotate() {
    this.rotating = true;
    try {
      this.token = (await this.call("POST", "/v1/till/token")).body.token ?? this.token;
    } catch { /* both tokens hold until the new one is used; the next answer asks again */ }
    this.rotating = false;
  }

  // Events for ever, by one stream for all windows of this browser: it has six connections to one server, and a stream takes one. The window
  // that has the lock reads the stream and passes on what comes; when it closes, the next one goes on after the last event. `repeats`: whoever
  // comes later needs the last event, too. What is passed on makes a window ask, or draws a display; no result ever comes from it.
  async follow(path, { onEvent, onOpen, onLost, repeats = false }, shared = { locks: globalThis.navigator?.locks, Channel: globalThis.BroadcastChannel }) {
    if (!shared.locks || !shared.Channel) return this.stream(path, { onEvent, onOpen, onLost });
    const name = `nfc-tap.stream ${this.place}`, channel = new shared.Channel(name);
    let isLeading = false, isOpen = null, cursor, last = null;
    const hear = {
      event: ({ event }) => {
        if (event.id) cursor = event.id;
        last = event;
        onEvent(event);
      },
      open: () => {
        if (isOpen) return;
        isOpen = true;
        onOpen?.();
      },
      lost: () => {
        isOpen = false;
        onLost?.();
      },
      hello: () => {
        if (!isLeading || isOpen === null) return;
        channel.postMessage({ kind: isOpen ? "open" : "lost" });
        if (repeats && last) channel.postMessage({ kind: "event", event: last });
      },
    };
    const tell = (message) => {
      if (message.kind !== "open" || !isOpen) channel.postMessage(message);
      hear[message.kind](message);
    };
    channel.onmessage = ({ data }) => hear[data.kind]?.(data);
    channel.postMessage({ kind: "hello" });
    return shared.locks.request(name, () => {
      isLeading = true;
      return this.stream(path, { cursor, onEvent: (event) => tell({ kind: "event", event }), onLost: () => tell({ kind: "lost" }), onOpen: () => {
        // The stream of this very window: what it may have missed is asked for, and nobody else's rest is disturbed.
        if (isOpen) onOpen?.();
        tell({ kind: "open" });
      } });
    });
  }

  // Connects again after 1, 2, 4 … 30 s with the last cursor, and when 45 s brought nothing.
  async stream(path, { cursor, onEvent, onOpen, onLost }) {
    let attempt = 0;
    for (;;) {
      const gone = new AbortController();
      let silence = setTimeout(() => gone.abort(), 45000);
      try {
        const headers = { Authorization: `Bearer ${this.token}`, Accept: "text/event-stream", "Accept-Language": this.language };
        if (cursor) headers["Last-Event-ID"] = cursor;
        const answer = await fetch(path, { headers, cache: "no-store", signal: gone.signal });
        if (!answer.ok) throw this.refusal(answer.status, await answer.text(), false);
        if (!/^text\/event-stream\b/.test(answer.headers.get("Content-Type") ?? "")) throw new Lost("no events");
        attempt = 0;
        onOpen?.();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          clearTimeout(silence);
          silence = setTimeout(() => gone.abort(), 45000);
          const blocks = (rest + value).replace(/\r\n?/g, "\n").split("\n\n");
          rest = blocks.pop();
          for (const block of blocks) {
            const event = parseEvent(block);
            if (event.id) cursor = event.id;
            if (event.data) onEvent(event);
          }
        }
        // The gateway ends streams after a quarter of an hour: that is no loss.
        clearTimeout(silence);
        await sleep(250);
        continue;
      } catch (failure) {
        clearTimeout(silence);
        if (failure instanceof Refused && failure.status === 401) return;
        // More browsers of this till than the gateway has streams for: it answers, and this one asks now and then.
        if (failure instanceof Refused && failure.status === 429) onOpen?.();
        else onLost?.(failure);
      }
      await sleep(pause(attempt++));
    }
  }
}

export function parseEvent(block) {
  const event = { name: "message", data: "" };
  for (const line of block.split("\n")) {
    const [, field, value] = /^([a-z]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "data") event.data += (event.data ? "\n" : "") + value;
  }
  return event;
}
