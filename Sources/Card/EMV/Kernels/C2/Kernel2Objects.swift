// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// What kernel 2 takes of a card: templates and lengths (C-2 §4.5 and Annex A as one implementation has them; unverified
/// otherwise).
enum Kernel2Objects {
    static func rule(_ tag: Tag) -> CardObjectRule? {
        switch tag.rawValue {
        case 0x84: rule(.fci, 5, 16)
        case 0x50, 0x9F12: rule(.proprietary, 0, 16)
        case 0x87, 0x9F11: rule(.proprietary, 1, 1)
        case 0x5F2D: rule(.proprietary, 2, 8)
        case 0x9F38: rule(.proprietary, 0, 240)
        case 0x9F5D: rule(.discretionary, 3, 3)
        case 0x9F5E: rule(.discretionary, 8, 11)
        case 0x9F4D: rule(.discretionary, 2, 2)
        case 0x9F6E: rule([.discretionary, .record], 5, 32)
        default: answer(tag) ?? either(tag) ?? record(tag)
        }
    }

    /// Answers to GET PROCESSING OPTIONS, GENERATE AC and COMPUTE CRYPTOGRAPHIC CHECKSUM.
    private static func answer(_ tag: Tag) -> CardObjectRule? {
        switch tag.rawValue {
        case 0x94: rule(.answer, 4, 248)
        case 0x82, 0x9F36, 0x9F60, 0x9F61: rule(.answer, 2, 2)
        case 0x9F27, 0x9F5F, 0x9F6F: rule(.answer, 1, 1)
        case 0x9F26: rule(.answer, 8, 8)
        case 0x9F54: rule(.answer, 0, 160)
        case 0x9F7D: rule(.answer, 8, 18)
        case 0x9F7F: rule(.answer, 4, 4)
        case 0x9F10: rule(.answer, 0, 32)
        case 0xDF4B: rule(.answer, 3, 3)
        case 0x9F4B: rule(.answer, 0, .max)
        default: nil
        }
    }

    /// Answers and records.
    private static func either(_ tag: Tag) -> CardObjectRule? {
        let both: CardObjectRule.Templates = [.answer, .record]
        switch tag.rawValue {
        case 0x9F42, 0x9F07, 0x9F08, 0x5F28, 0x5F30: return rule(both, 2, 2)
        case 0x9F44, 0x5F34, 0x8F: return rule(both, 1, 1)
        case 0x5F25, 0x5F24: return rule(both, 3, 3)
        case 0x5A: return rule(both, 0, 10)
        case 0x57: return rule(both, 0, 19)
        case 0x8C, 0x9F51, 0x9F4A: return rule(both, 0, 250)
        case 0x8E: return rule(both, 10, 250)
        case 0x90, 0x9F46: return rule(both, 0, 248)
        case 0x9F47, 0x9F32: return rule(both, 1, 3)
        case 0x9F48, 0x92: return rule(both, 0, .max)
        case 0x9F0D, 0x9F0E, 0x9F0F: return rule(both, 5, 5)
        case 0x9F24: return rule(both, 29, 29)
        case 0x9F1F: return rule(both, 0, 54)
        case 0x9F20: return rule(both, 0, 16)
        default: return nil
        }
    }

    private static func record(_ tag: Tag) -> CardObjectRule? {
        switch tag.rawValue {
        case 0x9F5B, 0x9F69: rule(.record, 0, 250)
        case 0x9F64, 0x9F67: rule(.record, 1, 1)
        case 0x9F62, 0x9F63: rule(.record, 6, 6)
        case 0x9F65, 0x9F66: rule(.record, 2, 2)
        case 0x56: rule(.record, 0, 76)
        case 0x9F6B: rule(.record, 0, 19)
        default: nil
        }
    }

    private static func rule(
        _ templates: CardObjectRule.Templates, _ minimum: Int, _ maximum: Int
    ) -> CardObjectRule {
        CardObjectRule(templates: templates, lengths: minimum...maximum)
    }

    /// The lengths in which a terminal may set an object while a transaction runs; `nil` for any other object (C-2 Annex
    /// A, one source).
    static func updatable(_ tag: Tag) -> ClosedRange<Int>? {
        switch tag.rawValue {
        case 0x5F57, 0xDF8108, 0xDF62, 0xDF810A, 0xDF8110, 0x9F53, 0x5F36, 0x9C: 1...1
        case 0x9F02, 0x9F03, 0xDF8104, 0xDF8105: 6...6
        case 0xDF60, 0xDF8109, 0x9F5C: 8...8
        case 0x5F2A: 2...2
        case 0x9A, 0x9F21: 3...3
        case 0x9F7C: 20...20
        case 0xDF63: 0...160
        case 0x9F70...0x9F79: 0...192
        default: nil
        }
    }

    /// 9F50 and 9F70…9F79: what GET DATA gives (C-2 §5.3).
    static func isReadByGetData(_ tag: Tag) -> Bool {
        tag == .offlineBalance || (0x9F70...0x9F79).contains(tag.rawValue)
    }
}
