// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV

/// What the value of a tag says.
enum ValueMeaning {
    static func meanings(_ tag: Tag, _ value: [UInt8], _ context: ValueContext) -> [Meaning] {
        guard !value.isEmpty else { return [] }
        if let table = bitTable(tag, value, context.kernel) { return table.meanings(value) }
        if let meanings = structured(tag, value, context) { return meanings }
        if let text = single(tag, value, context) { return [Meaning(text)] }
        return text(tag, value, context.kernel).map { [Meaning($0)] } ?? []
    }

    private static func bitTable(_ tag: Tag, _ value: [UInt8], _ kernel: KernelIdentifier?) -> BitTable? {
        switch tag.rawValue {
        case 0x95, 0x9F0D, 0x9F0E, 0x9F0F, 0xDF8120, 0xDF8121, 0xDF8122, 0x9F820B, 0x9F820C:
            kernel == .c8 ? .tvrKernel8 : .tvr
        case 0x9B: .tsi
        case 0x82: .interchangeProfile(kernel)
        case 0x9F07: .usageControl
        case 0x9F6C: .cardTransactionQualifiers
        case 0x9F27: .cryptogramInformation
        case 0x9F33: .terminalCapabilities
        case 0x9F40: .additionalTerminalCapabilities
        case 0x9F1D: .terminalRiskManagementData
        case 0xDF8117: .cardDataInputCapability
        case 0xDF8118, 0xDF8119: .cvmCapabilities
        case 0xDF811F: .securityCapability
        case 0xDF811B: .kernelConfiguration
        case 0xDF4B: .cardholderInteraction
        case _: kernelTable(tag, value, kernel)
        }
    }

    /// Tags that mean different things to different kernels.
    private static func kernelTable(_ tag: Tag, _ value: [UInt8], _ kernel: KernelIdentifier?) -> BitTable? {
        switch (tag.rawValue, kernel) {
        case (0x9F66, .visa?), (0x9F66, .discover?), (0x9F66, .unionPay?): .ttq
        // Kernel 2's 9F66 has two bytes.
        case (0x9F66, nil) where value.count == 4: .ttq
        case (0x9F6E, .visa?), (0x9F6E, .unionPay?): .formFactor
        case (0x9F6E, .americanExpress?): .amexReader
        case (0x9F6D, .americanExpress?): .amexReaderCapabilities
        case (0x9F5D, .mastercard?): .applicationCapabilities
        case (0x9F7E, .mastercard?): .mobileSupport
        case (0x9F53, .jcb?): .jcbInterchangeProfile
        case (0x9F52, .jcb?): .jcbCompatibility
        case (0x9F71, .discover?): .cardProcessingRequirements
        case _: nil
        }
    }

    private static func structured(_ tag: Tag, _ value: [UInt8], _ context: ValueContext) -> [Meaning]? {
        switch tag.rawValue {
        case 0x8E: CVMMeaning.list(value)
        case 0x9F34: CVMMeaning.results(value)
        case 0x94: FileMeaning.locator(value)
        case 0x9F10: IssuerApplicationData.meanings(value, kernel: context.kernel)
        case 0x57, 0x9F6B: AccountMeaning.track2(value, context)
        case 0x5A: AccountMeaning.pan(value, context)
        case 0xDF8115, 0x9F8204: OutcomeMeaning.error(value)
        case 0xDF8129, 0x9F8210: OutcomeMeaning.parameters(value)
        case 0xDF8116, 0x9F8205, 0x9F8219: OutcomeMeaning.userInterface(value)
        case 0x9F6E where context.kernel == .mastercard: FileMeaning.thirdParty(value)
        case 0x9F4A: FileMeaning.tagList(value)
        case 0x9F4D: FileMeaning.logEntry(value)
        case _: nil
        }
    }

    private static func single(_ tag: Tag, _ value: [UInt8], _ context: ValueContext) -> String? {
        let number = value.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        switch tag.rawValue {
        case 0x9A, 0x5F24, 0x5F25: return EMVDate(yymmdd: value).map { CardText.date($0) }
        case 0x9F21:
            guard value.count == 3, BCD.decode(value) != nil else { return nil }
            return value.map { Hex.string([$0]) }.joined(separator: ":")
        case 0x9F02, 0x9F03, 0x9F50, 0x9F5D, 0x9F79, 0xDF8104, 0xDF8105, 0xDF8123, 0xDF8124, 0xDF8125, 0xDF8126:
            // Of other lengths 9F50 and 9F5D are no amounts.
            return value.count == 6 ? BCD.decode(value).map { context.amount($0) } : nil
        case 0x81, 0x9F04, 0x9F1B: return value.count == 4 ? context.amount(number) : nil
        case 0x5F2A, 0x9F42, 0x9F3C: return BCD.decode(value).map { CodeNames.currency($0) }
        case 0x9F1A, 0x5F28, 0x9F57: return BCD.decode(value).map { CodeNames.country($0) }
        case 0x9C: return value.first.map { CodeNames.transactionType($0) }
        case 0x9F35: return value.first.map { CodeNames.terminalType($0) }
        case 0x9F39: return value.first.map { CodeNames.entryMode($0) }
        case 0x9F36, 0x9F13, 0x9F17: return value.count <= 2 ? "\(number)" : nil
        case 0x4F, 0x84, 0x9F06: return CodeNames.scheme(value)
        case 0x88: return value.first.map { "SFI \($0)" }
        case 0x87: return value.first.map { priority($0) }
        case 0x9F2A: return kernelIdentifier(value)
        case 0x9F11: return value.first.map { "ISO/IEC 8859-\($0)" }
        case 0x5F36, 0x9F44: return value.first.map { "\($0) digits after the decimal point" }
        case 0x8F, 0x9F22: return value.first.map { "CA key \(Hex.string([$0]))" }
        case _: return nil
        }
    }

    private static func priority(_ value: UInt8) -> String {
        let order = value & 0x0F == 0 ? "no priority" : "priority \(value & 0x0F)"
        return value & 0x80 == 0 ? order : order + ", cardholder confirmation"
    }

    private static func kernelIdentifier(_ value: [UInt8]) -> String? {
        guard let first = value.first else { return nil }
        guard first & 0x80 != 0 else {
            return first == 0 ? "any kernel" : CodeNames.kernelName(KernelIdentifier(rawValue: UInt32(first)))
        }
        guard value.count >= 3 else { return "domestic kernel, cut off" }
        return "domestic kernel \(Hex.string(value.prefix(3)))"
    }

    /// Text objects, where every byte can be printed.
    private static func text(_ tag: Tag, _ value: [UInt8], _ kernel: KernelIdentifier?) -> String? {
        let rows = DataDictionary.elements(tag)
        switch (DataDictionary.element(tag, kernel: kernel) ?? rows.first)?.format {
        case .a, .an, .ans:
            return value.allSatisfy { (0x20...0x7E).contains($0) } ? "\"\(CardText.ascii(value))\"" : nil
        case .n, .cn, .b, .variable, nil:
            return nil
        }
    }
}
