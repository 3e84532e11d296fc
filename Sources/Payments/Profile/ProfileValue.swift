// SPDX-License-Identifier: Apache-2.0
import Codes
import Envelope
import PaymentValues
import TerminalFile

/// One value of a profile, with the path by which errors name it.
struct ProfileValue {
    private let value: TerminalFileValue

    var path: String { value.path }

    /// The root.
    init(file: [UInt8]) throws(ProfileError) {
        do throws(TerminalFileError) { value = try TerminalFileValue(file: file) } catch { throw .member(error) }
    }

    private init(_ value: TerminalFileValue) { self.value = value }

    func object(_ names: Set<String>) throws(ProfileError) {
        try reading { (value) throws(TerminalFileError) in try value.object(names) }
    }

    func member(_ name: String) throws(ProfileError) -> ProfileValue {
        ProfileValue(try reading { (value) throws(TerminalFileError) in try value.member(name) })
    }

    func optional(_ name: String) throws(ProfileError) -> ProfileValue? {
        let found = try reading { (value) throws(TerminalFileError) in try value.optional(name) }
        return found.map { ProfileValue($0) }
    }

    func elements() throws(ProfileError) -> [ProfileValue] {
        try reading { (value) throws(TerminalFileError) in try value.elements() }.map { ProfileValue($0) }
    }

    func number(in range: ClosedRange<UInt64>) throws(ProfileError) -> UInt64 {
        try reading { (value) throws(TerminalFileError) in try value.number(in: range) }
    }

    func flag() throws(ProfileError) -> Bool {
        try reading { (value) throws(TerminalFileError) in try value.flag() }
    }

    func terminalFile() throws(ProfileError) -> TerminalFile {
        try reading { (value) throws(TerminalFileError) in try TerminalFile(value) }
    }

    /// Text of so many bytes, of any characters.
    func text(_ bytes: ClosedRange<Int>) throws(ProfileError) -> String {
        let text = try reading { (value) throws(TerminalFileError) in try value.text() }
        guard bytes.contains(text.utf8.count) else { throw .text(path, bytes: bytes) }
        return text
    }

    /// Text that takes one line on a screen or a receipt.
    func line(_ bytes: ClosedRange<Int>) throws(ProfileError) -> String {
        let text = try text(bytes)
        let isPlain = text.unicodeScalars.allSatisfy {
            switch $0.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: false
            default: true
            }
        }
        guard isPlain else { throw .text(path, bytes: bytes) }
        return text
    }

    func optionalLine(_ name: String, _ bytes: ClosedRange<Int>) throws(ProfileError) -> String? {
        try optional(name)?.line(bytes)
    }

    func lines(atMost count: Int, _ bytes: ClosedRange<Int>) throws(ProfileError) -> [String] {
        var lines: [String] = []
        for element in try elements() {
            guard lines.count < count else { throw .text(element.path, bytes: bytes) }
            lines.append(try element.line(bytes))
        }
        return lines
    }

    /// Where a person's device may be sent to.
    func address() throws(ProfileError) -> String {
        let address = try text(1...512)
        guard address.isCustomerAddress else { throw .address(path) }
        return address
    }

    func time() throws(ProfileError) -> Timestamp {
        guard let time = Timestamp(try text(1...64)) else { throw .time(path) }
        return time
    }

    func version() throws(ProfileError) -> SoftwareVersion {
        guard let version = SoftwareVersion(try text(1...32)) else { throw .version(path) }
        return version
    }

    func firmware() throws(ProfileError) -> FirmwareVersion {
        guard let version = FirmwareVersion(try text(1...32)) else { throw .version(path) }
        return version
    }

    func currency() throws(ProfileError) -> Currency {
        guard let currency = Currency(try text(1...8)) else { throw .currency(path) }
        return currency
    }

    func network() throws(ProfileError) -> String {
        let name = try text(1...32)
        guard PaymentNetwork.names.contains(name) else { throw .network(path) }
        return name
    }

    /// At least one element, none twice.
    func list<Element: Equatable>(
        _ read: (ProfileValue) throws(ProfileError) -> Element
    ) throws(ProfileError) -> [Element] {
        var list: [Element] = []
        for element in try elements() {
            let new = try read(element)
            guard !list.contains(new) else { throw .repeated(element.path) }
            list.append(new)
        }
        guard !list.isEmpty else { throw .empty(path) }
        return list
    }

    func recipientKeys() throws(ProfileError) -> RecipientKeySet {
        do throws(RecipientKeyError) { return try RecipientKeySet(json: value.json) } catch {
            throw .recipientKey(path, error)
        }
    }

    func verificationKey() throws(ProfileError) -> VerificationKey {
        do throws(RecipientKeyError) { return try VerificationKey(jwk: value.json) } catch {
            throw .verificationKey(path, error)
        }
    }

    private func reading<Result>(
        _ read: (TerminalFileValue) throws(TerminalFileError) -> Result
    ) throws(ProfileError) -> Result {
        do throws(TerminalFileError) { return try read(value) } catch { throw .member(error) }
    }
}
