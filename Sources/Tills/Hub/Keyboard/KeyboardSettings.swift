// SPDX-License-Identifier: Apache-2.0
/// How taps are typed.
package struct KeyboardSettings: Equatable, Sendable {
    package var layout = KeyboardLayout.us
    /// Typed before each tap, so that a page knows what does not come from a person.
    package var prefix = ""
    /// Enter follows each tap.
    package var endsWithEnter = false

    package init() {}

    /// Milliseconds from the making of the keyboard to its first key: before that neither udev nor a desktop has it.
    static let settling: UInt64 = 1_000
    /// Milliseconds between two changes. The kernel keeps some sixty for a reader that sleeps, and drops what is beyond.
    static let pace = 5

    /// The changes of keys that type a tap; `nil` where a character of it has no key: then nothing of it is typed.
    package func events(for text: String) -> [KeyboardLayout.Event]? {
        // A tap that had one would press Enter where nobody wants it.
        guard !text.contains("\n") else { return nil }
        return layout.events(for: prefix + text + (endsWithEnter ? "\n" : ""))
    }
}
