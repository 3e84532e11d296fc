// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// Account numbers and tracks, masked unless asked otherwise.
enum AccountMeaning {
    static func pan(_ value: [UInt8], _ context: ValueContext) -> [Meaning] {
        guard let digits = BCD.digits(value) else { return [Meaning("not digits with filler F")] }
        return [Meaning("card number \(shown(digits, context.unmasked))")]
    }

    static func track2(_ value: [UInt8], _ context: ValueContext) -> [Meaning] {
        guard let track = Track2Equivalent(value) else { return [Meaning("not a track 2 equivalent")] }
        var meanings = [Meaning("card number \(shown(track.pan, context.unmasked))")]
        guard context.unmasked else { return meanings }
        let expiry = track.expiry.map { String($0) }.joined()
        meanings.append(Meaning("expiry \(expiry) (YYMM)"))
        if let code = track.serviceCode { meanings.append(Meaning("service code \(code.map { String($0) }.joined())")) }
        meanings.append(
            Meaning("discretionary data \(track.discretionary.map { String($0, radix: 16) }.joined().uppercased())"))
        return meanings
    }

    /// First six and last four digits, as card receipts may show them; fewer of a short number.
    static func shown(_ digits: [UInt8], _ unmasked: Bool) -> String {
        let text = digits.map { String($0) }.joined()
        if unmasked { return text }
        let last = min(4, digits.count / 4)
        let first = digits.count >= 13 ? 6 : 0
        return text.prefix(first) + String(repeating: "*", count: digits.count - first - last) + text.suffix(last)
    }
}
