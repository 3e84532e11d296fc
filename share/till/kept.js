// SPDX-License-Identifier: Apache-2.0
// The sales that this till has written down, whichever of its windows began them. Each is an entry of its own, so that no window writes
// over what another has written, and it goes only by its own key. A window that has a sale on its screen holds a lock of that name, which the
// browser takes back when the window closes or dies: then the sale is anybody's.
const entry = "nfc-tap.sale/", mine = "nfc-tap.sale";
// What versions before wrote: one sale for all windows, and a list.
const former = { current: "nfc-tap.sale", aside: "nfc-tap.aside" };

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export class Kept {
  // Storages of the browser and of this window; `locks` is missing on pages without TLS that are not this machine's. So many milliseconds a
  // page that is loaded anew waits for the lock of the one that it was.
  constructor(storage = localStorage, own = sessionStorage, locks = globalThis.navigator?.locks, now = Date.now, patience = 2000) {
    Object.assign(this, { storage, own, locks, now, patience, release: null });
    for (const [name, aside] of [[former.current, false], [former.aside, true]]) {
      const found = parsed(storage.getItem(name));
      for (const request of [found].flat()) if (request?.key) this.put(request, { aside });
      storage.removeItem(name);
    }
  }

  // {request, aside, screen, since} of each, the oldest first.
  all() {
    return Array.from({ length: this.storage.length }, (_, place) => this.storage.key(place)).filter((name) => name?.startsWith(entry))
      .map((name) => parsed(this.storage.getItem(name))).filter((one) => one?.request?.key && one.request.body)
      .sort((one, other) => one.since - other.since);
  }

  find(key) {
    return parsed(this.storage.getItem(entry + key));
  }

  put(request, changes = {}) {
    const { aside = false, screen, since = this.now() } = this.find(request.key) ?? {};
    this.storage.setItem(entry + request.key, JSON.stringify({ request, aside, screen, since, ...changes }));
  }

  // What one window knows of its sale, for the others. What has gone meanwhile does not come back.
  note(key, screen) {
    const known = this.find(key);
    if (known && known.screen !== screen) this.put(known.request, { screen });
  }

  forget(key) {
    this.storage.removeItem(entry + key);
  }

  // This window has the sale on its screen from now on, and none before it. Answers whether no other window has it.
  hold(key, waits = 0) {
    this.letGo();
    this.own.setItem(mine, key);
    if (!this.locks) return Promise.resolve(true);
    return new Promise((answer) => {
      let isOver = false;
      this.release = () => { isOver = true; };
      const options = waits ? { signal: AbortSignal.timeout(waits) } : { ifAvailable: true };
      this.locks.request(entry + key, options, (lock) => {
        answer(lock !== null);
        if (lock === null || isOver) return undefined;
        return new Promise((done) => { this.release = done; });
      }).catch(() => answer(false));
    });
  }

  letGo() {
    this.release?.();
    this.release = null;
    this.own.removeItem(mine);
  }

  // The keys of the sales that some window has on its screen.
  async held() {
    if (!this.locks) return new Set();
    const { held } = await this.locks.query();
    return new Set(held.map((one) => one.name).filter((name) => name.startsWith(entry)).map((name) => name.slice(entry.length)));
  }

  // What a window that has just opened goes on with: the sale that it had before it was loaded anew, else one whose window is gone.
  async resume() {
    const before = this.own.getItem(mine);
    const open = this.all().filter((one) => !one.aside || one.request.key === before);
    const isBefore = (one) => one.request.key === before;
    for (const one of [...open.filter(isBefore), ...open.filter((one) => !isBefore(one))]) {
      if (await this.hold(one.request.key, isBefore(one) ? this.patience : 0) && this.find(one.request.key)) return one.request;
    }
    this.letGo();
    return null;
  }
}
