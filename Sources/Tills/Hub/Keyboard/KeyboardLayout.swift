// SPDX-License-Identifier: Apache-2.0
/// Which keys make a text, by the codes of linux/input-event-codes.h. A code is a place on the keyboard: the layout of the desktop makes
/// the letter of it.
package enum KeyboardLayout: String, CaseIterable, Sendable {
    case us, de

    /// One change: `isDown` or up again.
    package struct Event: Equatable, Sendable {
        package var code: UInt16
        package var isDown: Bool

        package init(_ code: UInt16, _ isDown: Bool) { (self.code, self.isDown) = (code, isDown) }
    }

    static let shift: UInt16 = 42
    /// All that are used: 1 to 0, letters, the dash's place on both layouts, Enter, Shift.
    package static let codes: [UInt16] =
        Array(2...12) + Array(16...25) + [28] + Array(30...38) + [shift] + Array(44...50) + [53]

    /// - Returns: `nil` where a character has no key: nothing is typed then, not even the rest.
    package func events(for text: String) -> [Event]? {
        var events: [Event] = []
        for character in text.unicodeScalars {
            guard let (code, isShifted) = key(character) else { return nil }
            if isShifted { events.append(Event(Self.shift, true)) }
            events += [Event(code, true), Event(code, false)]
            if isShifted { events.append(Event(Self.shift, false)) }
        }
        return events
    }

    private static let rows: [(first: UInt16, keys: [Unicode.Scalar])] = [
        (2, Array("1234567890".unicodeScalars)), (16, Array("qwertyuiop".unicodeScalars)),
        (30, Array("asdfghjkl".unicodeScalars)), (44, Array("zxcvbnm".unicodeScalars)),
    ]

    private func key(_ character: Unicode.Scalar) -> (code: UInt16, isShifted: Bool)? {
        if character == "\n" { return (28, false) }
        if character == "-" { return (self == .us ? 12 : 53, false) }
        let isUpper = ("A"..."Z").contains(character)
        guard var plain = isUpper ? Unicode.Scalar(character.value + 0x20) : character else { return nil }
        if self == .de { plain = plain == "y" ? "z" : plain == "z" ? "y" : plain }
        for row in Self.rows {
            guard let index = row.keys.firstIndex(of: plain) else { continue }
            return (row.first + UInt16(index), isUpper)
        }
        return nil
    }
}
