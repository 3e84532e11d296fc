// SPDX-License-Identifier: Apache-2.0
public import CardBytes
import Codes

/// Why a value is not what a terminal can have under a tag.
public enum TerminalDataFault: Equatable, Sendable {
    /// The tag is the card's, the issuer's or computed while a transaction runs.
    case notTerminals
    /// Not of so many bytes.
    case length(ClosedRange<Int>)
    /// Not in the format of the dictionary (EMV Book 3 §4.3).
    case format(ValueFormat)
    /// In the right format, and of no meaning: no terminal type, country or currency.
    case meaning
}

extension DataDictionary {
    /// What is wrong with a terminal's own value; `nil` for one that can be used, and for a tag that no dictionary names: schemes
    /// have private ones.
    ///
    /// - Parameter kernel: `nil` for data of all kernels: the value has to suit one meaning of the tag.
    public static func fault(ofTerminal value: [UInt8], _ tag: Tag, kernel: KernelIdentifier?) -> TerminalDataFault? {
        let all = elements(tag)
        guard !all.isEmpty else { return nil }
        // Kernels 4 and 5 have borrowed tags of kernel 2: a meaning of another kernel counts where the kernel has none of its own.
        let rows = kernel.flatMap { element(tag, kernel: $0) }.map { [$0] } ?? all
        let own = rows.filter { $0.source == .terminal }
        guard let first = own.first else { return .notTerminals }
        var fault: TerminalDataFault?
        for row in own {
            guard let found = row.fault(of: value) else { return nil }
            fault = fault ?? found
        }
        return fault ?? first.fault(of: value)
    }
}

extension DataElement {
    fileprivate func fault(of value: [UInt8]) -> TerminalDataFault? {
        guard minimumLength...maximumLength ~= value.count else { return .length(minimumLength...maximumLength) }
        guard format.holds(value) else { return .format(format) }
        return isMeant(value) ? nil : .meaning
    }

    private func isMeant(_ value: [UInt8]) -> Bool {
        switch tag {
        // EMV Book 4 Table 24: attended and unattended, of a bank, a merchant or a cardholder.
        case .terminalType: value.first.map { [0x10, 0x20, 0x30].contains($0 & 0xF0) && 1...6 ~= $0 & 0x0F } ?? false
        case .terminalCountry: BCD.decode(value).flatMap { CountryCode(numeric: $0) } != nil
        case .transactionCurrency, .transactionReferenceCurrency:
            BCD.decode(value).flatMap { CurrencyCode(numeric: $0) } != nil
        default: true
        }
    }
}

extension ValueFormat {
    /// Whether `value` is in this format, whatever its length. Blanks are taken in alphanumeric data: acquirers fill with them.
    fileprivate func holds(_ value: [UInt8]) -> Bool {
        switch self {
        case .n: value.allSatisfy { $0 >> 4 < 10 && $0 & 0x0F < 10 }
        case .cn: BCD.digits(value) != nil
        case .a: value.allSatisfy(ValueFormat.isLetter)
        case .an: value.allSatisfy { ValueFormat.isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x20 }
        case .ans: value.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        case .b, .variable: true
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
