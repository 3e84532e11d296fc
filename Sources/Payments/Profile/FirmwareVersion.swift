// SPDX-License-Identifier: Apache-2.0
/// Firmware as readers tell it: numbers between dots, with or without letters before the first one: `1.6`, `V2.15`, `3.01.00`.
public struct FirmwareVersion: Equatable, Sendable {
    /// Without zeros at their end, so that 3.1 and 3.1.0 are one.
    let numbers: [Int]

    /// - Returns: `nil` for what begins with no number.
    public init?(_ text: String) {
        var numbers: [Int] = []
        for part in text.drop(while: { !$0.isWholeNumber }).split(separator: ".", omittingEmptySubsequences: false)
            .prefix(4)
        {
            let digits = part.prefix { $0.isASCII && $0.isWholeNumber }
            guard (1...6).contains(digits.utf8.count), let number = Int(digits) else { break }
            numbers.append(number)
            if digits.count < part.count { break }
        }
        guard !numbers.isEmpty else { return nil }
        while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
        self.numbers = numbers
    }
}

extension FirmwareVersion: Comparable {
    public static func < (left: FirmwareVersion, right: FirmwareVersion) -> Bool {
        left.numbers.lexicographicallyPrecedes(right.numbers)
    }
}

extension FirmwareVersion: CustomStringConvertible {
    public var description: String { numbers.map(String.init).joined(separator: ".") }
}

/// The oldest firmware of a model of reader that a payment service accepts.
public struct ReaderMinimum: Equatable, Sendable {
    /// As lanes name it.
    public let model: String
    public let firmware: FirmwareVersion
}

extension Profile {
    /// What a reader's firmware has to be, where it is older.
    ///
    /// - Returns: `nil` for a reader that is new enough, or does not tell its firmware, and for a model without a minimum.
    public func neededFirmware(_ model: String, _ firmware: String?) -> FirmwareVersion? {
        guard let own = firmware.flatMap(FirmwareVersion.init) else { return nil }
        return software.readers.first { $0.model == model && own < $0.firmware }?.firmware
    }
}
