// SPDX-License-Identifier: Apache-2.0
package import CardBytes
public import Codes
public import EMV
public import EMVCrypto

/// Terminal configuration and CA keys out of one JSON file. `docs/examples/terminal-test.json` shows every member.
///
/// Amounts are in minor units of `currency`; data objects are hexadecimal by their tag.
public struct TerminalFile: Sendable {
    public let configuration: TerminalConfiguration
    public let keys: CAPublicKeys
    /// What the limits are amounts of: in another one they say nothing, and no payment is taken. `nil` where the file does not say.
    public let currency: CurrencyCode?

    /// EMV's test terminal with the published test keys: what runs when nothing is configured.
    public static let test = TerminalFile(configuration: .test, keys: .test)

    /// Offline data authentication with this file's keys.
    public var authentication: OfflineAuthentication { .using(keys) }

    init(configuration: TerminalConfiguration, keys: CAPublicKeys) {
        self.configuration = configuration
        self.keys = keys
        currency = nil
    }

    /// What a file is read for.
    public enum Purpose: Sendable {
        /// Real cards: a terminal that claims PIN entry is refused.
        case payment
        /// Recorded transactions: the terminal that they were recorded at may have had a PIN pad, or data that are none.
        case replay
    }

    /// - Throws: the first fault of the file, with its member.
    public init(json: [UInt8], for purpose: Purpose = .payment) throws(TerminalFileError) {
        try self.init(TerminalFileValue(file: json), for: purpose)
    }

    /// The same as a member of another file.
    package init(_ file: TerminalFileValue, for purpose: Purpose = .payment) throws(TerminalFileError) {
        try file.object([
            "version", "environment", "terminalData", "combinations", "caKeys", "preferredApplications", "hostData",
            "terminalCategory", "currency",
        ])
        _ = try file.member("version").number(in: 1...1)
        if let value = try file.optional("currency") {
            guard let code = CurrencyCode(try value.text()), code.isPayable else { throw .currency(value.path) }
            currency = code
        } else {
            currency = nil
        }
        let terminalData = try TerminalFile.dataObjects(file.member("terminalData"), nil, purpose)
        var combinations: [Combination] = []
        for element in try file.member("combinations").elements() {
            combinations.append(try TerminalFile.combination(element, purpose))
        }
        guard !combinations.isEmpty else { throw .missing(try file.member("combinations").path + "[0]") }
        var configuration = TerminalConfiguration(terminalData: terminalData, combinations: combinations)
        for element in try file.optional("preferredApplications")?.elements() ?? [] {
            configuration.preferredApplications.append(try element.hexadecimal(5...16))
        }
        if let category = try file.optional("terminalCategory") {
            configuration.terminalCategory = try category.hexadecimal(2...2)
        }
        if let rows = try file.optional("hostData") { configuration.hostData = try TerminalFile.hostData(rows) }
        self.configuration = configuration
        let environment = try file.member("environment").word(of: ["test", "live"])
        keys = try TerminalFile.keys(file, environment: environment == "live" ? .live : .test)
    }

    package static func combination(
        _ value: TerminalFileValue, _ purpose: Purpose
    ) throws(TerminalFileError) -> Combination {
        try value.object([
            "aid", "kernel", "transactionTypes", "limits", "kernelData", "dynamicLimits", "riskManagement",
        ])
        var combination = Combination(
            aid: try value.member("aid").hexadecimal(5...16),
            kernel: KernelIdentifier(
                rawValue: UInt32(truncatingIfNeeded: try value.member("kernel").number(in: 1...0xFF_FFFF))))
        if let types = try value.optional("transactionTypes") {
            var list: [TransactionType] = []
            for element in try types.elements() {
                list.append(TransactionType(rawValue: try element.hexadecimal(1...1)[0]))
            }
            combination.transactionTypes = list
        }
        if let limits = try value.optional("limits") { combination.limits = try TerminalFile.limits(limits, purpose) }
        if let data = try value.optional("kernelData") {
            combination.kernelData = try dataObjects(data, combination.kernel, purpose)
        }
        if let sets = try value.optional("dynamicLimits") {
            for element in try sets.elements() {
                try element.object(["programIdentifier", "limits"])
                combination.dynamicLimits.append(
                    DynamicReaderLimits(
                        programIdentifier: try element.member("programIdentifier").hexadecimal(1...16),
                        limits: try limits(element.member("limits"), purpose)))
            }
        }
        if let risk = try value.optional("riskManagement") { combination.riskManagement = try riskManagement(risk) }
        return combination
    }

    private static func limits(
        _ value: TerminalFileValue, _ purpose: Purpose
    ) throws(TerminalFileError) -> EntryPointLimits {
        try value.object([
            "transaction", "cvmRequired", "floor", "terminalFloor", "statusCheck", "zeroAmountAllowed",
            "zeroAmountForOfflineAllowed", "ttq", "extendedSelection",
        ])
        func amount(_ name: String, upTo limit: UInt64) throws(TerminalFileError) -> UInt64? {
            guard let value = try value.optional(name) else { return nil }
            return try value.number(in: 0...limit)
        }
        func flag(_ name: String) throws(TerminalFileError) -> Bool? {
            guard let value = try value.optional(name) else { return nil }
            return try value.flag()
        }
        // Amounts have 12 digits (9F02), the terminal floor limit four bytes (9F1B).
        let most = UInt64(CurrencyCode.largestAmount)
        let terminalFloor = try amount("terminalFloor", upTo: UInt64(UInt32.max))
        return EntryPointLimits(
            transactionLimit: try amount("transaction", upTo: most),
            cvmRequiredLimit: try amount("cvmRequired", upTo: most), floorLimit: try amount("floor", upTo: most),
            terminalFloorLimit: terminalFloor.map { UInt32(truncatingIfNeeded: $0) },
            statusCheck: try flag("statusCheck") ?? false, zeroAmountAllowed: try flag("zeroAmountAllowed"),
            zeroAmountForOfflineAllowed: try flag("zeroAmountForOfflineAllowed"), ttq: try qualifiers(value, purpose),
            extendedSelection: try flag("extendedSelection") ?? false)
    }

    private static func qualifiers(
        _ limits: TerminalFileValue, _ purpose: Purpose
    ) throws(TerminalFileError) -> TTQ? {
        guard let value = try limits.optional("ttq") else { return nil }
        guard let ttq = TTQ(try value.hexadecimal(4...4)) else { return nil }
        guard purpose == .replay || !ttq.supportsOnlinePIN else { throw .pinClaimed(value.path) }
        return ttq
    }

    /// In the order of their tags, so that the same file is always the same configuration.
    ///
    /// - Parameter kernel: `nil` for the data of all kernels.
    private static func dataObjects(
        _ value: TerminalFileValue, _ kernel: KernelIdentifier?, _ purpose: Purpose
    ) throws(TerminalFileError) -> [DataObject] {
        var objects: [DataObject] = []
        for member in try value.members() {
            guard let tag = tag(member.name) else { throw .unknown(member.value.path) }
            // Names in the other case of letters are other members, and the same tag.
            guard !objects.contains(where: { $0.tag == tag }) else { throw .repeated(member.value.path) }
            let bytes = try member.value.hexadecimal(0...252)
            if purpose == .payment, let fault = DataDictionary.fault(ofTerminal: bytes, tag, kernel: kernel) {
                throw .terminalData(member.value.path, fault)
            }
            guard purpose == .replay || !claimsPIN(tag, bytes) else { throw .pinClaimed(member.value.path) }
            objects.append(DataObject(tag, bytes))
        }
        return objects.sorted { $0.tag.rawValue < $1.tag.rawValue }
    }

    /// A whole tag in upper- or lower-case hexadecimal.
    package static func tag(_ name: String) -> Tag? {
        guard let bytes = try? Hex.bytes(name), (1...3).contains(bytes.count) else { return nil }
        guard let node = try? TLV.nodes(bytes + [0x00]).first, node.tag.bytes == bytes else { return nil }
        return node.tag
    }

    /// The second byte of 9F33, and DF8118 and DF8119 of kernel 2, code the CVMs alike (EMV Book 4 Annex A2).
    private static func claimsPIN(_ tag: Tag, _ value: [UInt8]) -> Bool {
        let pinBits: UInt8 = 0xD0
        switch tag {
        case 0x9F33: return value.count > 1 && value[1] & pinBits != 0
        case 0xDF8118, 0xDF8119: return value.first.map { $0 & pinBits != 0 } ?? false
        default: return false
        }
    }

    private static func keys(
        _ file: TerminalFileValue, environment: CAPublicKey.Environment
    ) throws(TerminalFileError) -> CAPublicKeys {
        guard let list = try file.optional("caKeys") else {
            // Live keys are the acquirer's to give; the published test keys are always at hand.
            guard environment == .test else { throw .missing("caKeys") }
            return .test
        }
        var keys: [CAPublicKey] = []
        for element in try list.elements() { keys.append(try key(element, environment)) }
        do throws(CAPublicKeyError) {
            return try CAPublicKeys(environment: environment, keys: keys)
        } catch {
            throw .caKey(list.path, error)
        }
    }

    private static func key(
        _ value: TerminalFileValue, _ environment: CAPublicKey.Environment
    ) throws(TerminalFileError) -> CAPublicKey {
        try value.object(["rid", "index", "modulus", "exponent", "checksum", "expiry"])
        let rid = try value.member("rid").text()
        let index = try value.member("index").text()
        let modulus = try value.member("modulus").text()
        let exponent = try value.member("exponent").text()
        let checksum = try value.member("checksum").text()
        let expiry = try value.optional("expiry")?.text() ?? ""
        do throws(CAPublicKeyError) {
            return try CAPublicKey(
                rid: rid, index: index, modulus: modulus, exponent: exponent, checksum: checksum, expiry: expiry,
                environment: environment)
        } catch {
            throw .caKey(value.path, error)
        }
    }
}
