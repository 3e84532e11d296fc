// SPDX-License-Identifier: Apache-2.0
/** Server-sent events from bytes, without any waiting (WHATWG HTML, 9.2.6). */

export interface Message {
    /** "message" where nothing was said. */
    name: string;
    data: string;
}

/** Puts events together from pieces that may end anywhere, within a character too, and keeps the cursor from which they go on. */
export class EventReader {
    private decoder = new TextDecoder();
    private rest = "";
    private name = "";
    private data: string[] = [];
    private id: string | undefined;

    /** `after`: the number of the last event that is already known. */
    constructor(private after?: number | string) {}

    /** Headers for the next connection. What the one before left half said is dropped, and asked for again. */
    begin(): Record<string, string> {
        this.decoder = new TextDecoder();
        this.rest = this.name = "";
        this.data = [];
        this.id = undefined;
        return this.after === undefined ? {} : { "Last-Event-ID": String(this.after) };
    }

    feed(bytes: Uint8Array): Message[] {
        const text = this.rest + this.decoder.decode(bytes, { stream: true });
        // A carriage return at the end may be the first half of a line's end.
        const end = text.endsWith("\r") ? text.length - 1 : text.length;
        const lines = text.slice(0, end).split(/\r\n|\n|\r/);
        this.rest = (lines.pop() ?? "") + text.slice(end);
        return lines.flatMap((line) => this.line(line));
    }

    private line(line: string): Message[] {
        if (line === "") {
            const message = { name: this.name || "message", data: this.data.join("\n") };
            const isWhole = this.data.length > 0;
            // The cursor moves with a whole event only.
            this.after = this.id ?? this.after;
            this.name = "";
            this.data = [];
            return isWhole ? [message] : [];
        }
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (field === "event") this.name = value;
        else if (field === "data") this.data.push(value);
        else if (field === "id" && /^[0-9]+$/.test(value)) this.id = value;
        return [];
    }
}
