// SPDX-License-Identifier: Apache-2.0
import EMV

/// Cardholder verification in words (EMV Book 3 Annex C3).
enum CVMMeaning {
    static func method(_ code: UInt8) -> String {
        switch code & 0x3F {
        case 0x00: "fail CVM processing"
        case 0x01: "plaintext PIN verified by ICC (or on-device CVM)"
        case 0x02: "enciphered PIN verified online"
        case 0x03: "plaintext PIN verified by ICC and signature"
        case 0x04: "enciphered PIN verified by ICC"
        case 0x05: "enciphered PIN verified by ICC and signature"
        case 0x1E: "signature"
        case 0x1F: "no CVM required"
        case 0x3F: "no CVM performed"
        case _: "reserved method"
        }
    }

    /// - Parameter list: gives X and Y; `nil` where only the codes are known.
    static func condition(_ code: UInt8, _ list: CVMList?) -> String {
        let x = list.map { "X (\($0.x))" } ?? "X"
        let y = list.map { "Y (\($0.y))" } ?? "Y"
        return switch code {
        case 0x00: "always"
        case 0x01: "if unattended cash"
        case 0x02: "if not cash and not cashback"
        case 0x03: "if terminal supports the CVM"
        case 0x04: "if manual cash"
        case 0x05: "if purchase with cashback"
        case 0x06: "if in application currency and under \(x)"
        case 0x07: "if in application currency and over \(x)"
        case 0x08: "if in application currency and under \(y)"
        case 0x09: "if in application currency and over \(y)"
        case _: "if reserved condition"
        }
    }

    static func rule(_ rule: CVMList.Rule, _ list: CVMList?) -> String {
        let next = rule.appliesSucceeding ? "else apply next rule" : "else fail"
        return "\(method(rule.method)), \(condition(rule.condition, list)), \(next)"
    }

    static func list(_ value: [UInt8]) -> [Meaning] {
        guard let list = CVMList(value) else { return [Meaning("too short for a CVM list")] }
        var meanings = [
            Meaning("bytes 1-4", "amount X: \(list.x) minor units"),
            Meaning("bytes 5-8", "amount Y: \(list.y) minor units"),
        ]
        for (index, rule) in list.rules.enumerated() {
            let start = 9 + index * 2
            meanings.append(Meaning("bytes \(start)-\(start + 1)", "rule \(index + 1): \(self.rule(rule, list))"))
        }
        if !value.count.isMultiple(of: 2) { meanings.append(Meaning("byte \(value.count)", "half a rule, ignored")) }
        return meanings
    }

    static func results(_ value: [UInt8]) -> [Meaning] {
        guard value.count == 3 else { return [Meaning("not three bytes")] }
        let result =
            switch value[2] {
            case 0x00: "unknown"
            case 0x01: "failed"
            case 0x02: "successful"
            case _: "reserved"
            }
        return [
            Meaning("byte 1", method(value[0])), Meaning("byte 2", condition(value[1], nil)),
            Meaning("byte 3", "result: \(result)"),
        ]
    }
}
