// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// One recorded conversation with cards, as the text format `.tap` holds it.
///
/// ```
/// # A comment. The header follows, one `key: value` a line.
/// kernel: C3
/// expect: onlineRequest
///
/// + technology=typeA uid=08A1B2C3 ats=788080022063CBA3A0 sak=20
/// > 00A404000E325041592E5359532E444446303100
/// < 6F098407A00000000310109000
/// > 80A8000002830000
/// ! cardLost
/// -
/// ```
///
/// `+` a card was activated (or `+ collision`, or `+ empty` after it), `>` a C-APDU was sent, `<` its R-APDU, `!` why there
/// was none, `-` the card was released. Bytes are hexadecimal. Holds card data in the clear: keep it only where the user
/// asked for it.
public struct Transcript: Equatable, Sendable {
    /// One header line.
    public struct Field: Equatable, Sendable {
        public var key: String
        public var value: String

        public init(key: String, value: String) {
            self.key = key
            self.value = value
        }
    }

    /// How a command ended.
    public enum Answer: Equatable, Sendable {
        case response(ResponseAPDU)
        case cardLost
        case timedOut
        /// The reader went away in mid-command.
        case detached
    }

    public enum Step: Equatable, Sendable {
        case activated(CardActivation)
        case collided
        /// The field is empty after a collision.
        case emptied
        case exchanged(CommandAPDU, Answer)
        case released
    }

    /// In the order of the file; keys may repeat.
    public var header: [Field]
    public var steps: [Step]

    public init(header: [Field] = [], steps: [Step] = []) {
        self.header = header
        self.steps = steps
    }

    /// The value of the first header line with this key.
    public subscript(key: String) -> String? { header.first { $0.key == key }?.value }
}

extension Transcript: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Sizes only: a transcript is card data. `text` is the file's content.
    public var description: String { "<transcript of \(steps.count) steps>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
