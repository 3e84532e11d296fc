// SPDX-License-Identifier: Apache-2.0

extension String {
    /// The text without commands to a terminal (ECMA-48): ESC, CSI and every other control character but line feed and tab becomes U+FFFD.
    /// What a file, a card, a reader or a till says may hold them, and they move the cursor, set the title or answer for the person.
    package var shown: String {
        func isShown(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory != .control || scalar == "\n" || scalar == "\t"
        }
        guard !unicodeScalars.allSatisfy(isShown) else { return self }
        var shown = String.UnicodeScalarView()
        for scalar in unicodeScalars { shown.append(isShown(scalar) ? scalar : "\u{FFFD}") }
        return String(shown)
    }
}
