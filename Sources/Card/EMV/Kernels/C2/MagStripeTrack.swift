// SPDX-License-Identifier: Apache-2.0
/// One track of mag-stripe mode and the digits that go into its discretionary data (C-2 §3.5, S13, S14).
///
/// Positions count from the right: bit 1 of a bitmap is the last digit.
struct MagStripeTrack: Equatable {
    /// PCVC3: where the digits of CVC3 go.
    var cvc3Positions: UInt64
    /// PUNATC: where the digits of the unpredictable number (low positions) and of the ATC (high positions) go.
    var numberPositions: UInt64
    /// NATC: so many digits of the ATC.
    var counterDigits: Int

    /// Digits of the unpredictable number; `nil` unless 0…8.
    var numberDigits: Int? {
        let count = numberPositions.nonzeroBitCount - counterDigits
        return (0...8).contains(count) ? count : nil
    }

    /// - Parameters:
    ///   - digits: discretionary data, 0…9 each.
    ///   - number: 9F6A as a decimal number.
    ///   - lastDigit: nUN, moved by 5 after on-device verification.
    func filled(_ digits: [UInt8], cvc3: UInt16, counter: UInt16, number: UInt64, lastDigit: UInt8) -> [UInt8] {
        var result = digits
        put(UInt64(cvc3), into: positions(cvc3Positions), &result)
        let places = positions(numberPositions)
        put(number, into: Array(places.prefix(numberDigits ?? 0)), &result)
        put(UInt64(counter), into: Array(places.suffix(counterDigits)), &result)
        if !result.isEmpty { result[result.count - 1] = lastDigit }
        return result
    }

    /// Set bits from the lowest on, as distances from the right, 0 for the last digit.
    private func positions(_ bitmap: UInt64) -> [Int] { (0..<64).filter { bitmap >> UInt64($0) & 1 == 1 } }

    /// Writes the low decimal digits of `number`, the lowest one into the first of `places`.
    private func put(_ number: UInt64, into places: [Int], _ digits: inout [UInt8]) {
        var rest = number
        for place in places {
            if place < digits.count { digits[digits.count - 1 - place] = UInt8(rest % 10) }
            rest /= 10
        }
    }
}
