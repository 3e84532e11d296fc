// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// The ATR that a contactless reader makes up for a card (PC/SC part 3).
public enum SyntheticATR {
    /// The activation's own ATR if it has one, else one made from its technology and ATS.
    public static func bytes(for activation: CardActivation) -> [UInt8] {
        guard activation.atr.isEmpty else { return activation.atr }
        let content =
            switch activation.technology {
            case .typeB: [0, 0, 0, 0] + (activation.answerToSelect + [0, 0, 0]).prefix(3) + [0]
            case .typeA, .feliCa, .iso15693, .unknown: historicalBytes(activation.answerToSelect)
            }
        let body = [0x80 | UInt8(content.count), 0x80, 0x01] + content
        return [0x3B] + body + [body.reduce(0, ^)]
    }

    /// What follows T0 and the interface bytes TA, TB, TC that it announces (ISO/IEC 14443-4 §5.2), at most 15 bytes.
    private static func historicalBytes(_ answerToSelect: [UInt8]) -> [UInt8] {
        guard let format = answerToSelect.first else { return [] }
        let interfaceBytes = (format >> 4 & 0x07).nonzeroBitCount
        return Array(answerToSelect.dropFirst(1 + interfaceBytes).prefix(15))
    }
}
