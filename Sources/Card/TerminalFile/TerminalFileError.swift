// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV
public import EMVCrypto

/// Why a terminal file is not used. Every case names the member: `combinations[2].limits.ttq`.
public enum TerminalFileError: Error, Equatable, Sendable {
    /// What a member should have been.
    public enum Expectation: String, Sendable {
        case object, array, text, wholeNumber, yesOrNo
    }

    /// No JSON; place counted from 1, in characters of one byte.
    case syntax(line: Int, column: Int)
    case missing(String)
    /// A name that the file format does not have: a typo must not change how cards are taken.
    case unknown(String)
    case wrongType(String, expected: Expectation)
    /// Not hexadecimal, or not of so many bytes.
    case hexadecimal(String, bytes: ClosedRange<Int>)
    case outOfRange(String, ClosedRange<UInt64>)
    case notOneOf(String, [String])
    /// Not an active currency of ISO 4217.
    case currency(String)
    /// Not a number of ISO 3166-1.
    case country(String)
    /// The same tag for the second time.
    case repeated(String)
    /// Not what the data dictionary has for the tag.
    case terminalData(String, TerminalDataFault)
    case caKey(String, CAPublicKeyError)
    /// The value says that the terminal takes PINs. It cannot: see the documentation on scope.
    case pinClaimed(String)
}

extension TerminalFileError: CustomStringConvertible {
    /// One phrase: member and fault.
    public var description: String {
        switch self {
        case .syntax(let line, let column): "line \(line), column \(column): not JSON"
        case .missing(let field): "\(field): missing"
        case .unknown(let field): "\(field): unknown member"
        case .wrongType(let field, let expected): "\(field): not \(expected.phrase)"
        case .hexadecimal(let field, let bytes): "\(field): not \(TerminalFileError.count(bytes)) in hexadecimal"
        case .outOfRange(let field, let range): "\(field): not between \(range.lowerBound) and \(range.upperBound)"
        case .notOneOf(let field, let words): "\(field): not one of \(words.joined(separator: ", "))"
        case .currency(let field): "\(field): not an active currency of ISO 4217"
        case .country(let field): "\(field): not a country of ISO 3166-1"
        case .repeated(let field): "\(field): the same tag for the second time"
        case .terminalData(let field, let fault): "\(field): \(fault.phrase)"
        case .caKey(let field, let error): "\(field): \(error)"
        case .pinClaimed(let field): "\(field): claims PIN entry"
        }
    }

    /// What to do about it.
    public var resolution: String {
        switch self {
        case .syntax: "Check brackets, commas and quotes at this place; names must not repeat and must have no escapes"
        case .missing: "Add the member; docs/examples/terminal-test.json has every one"
        case .unknown: "Correct the spelling or remove it; docs/examples/terminal-test.json has every member"
        case .wrongType(_, let expected): "Write \(expected.phrase)"
        case .hexadecimal(_, let bytes):
            "Write \(bytes.lowerBound * 2)\(bytes.count > 1 ? " to \(bytes.upperBound * 2)" : "") hexadecimal digits in quotes"
        case .outOfRange(_, let range): "Write a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .notOneOf(_, let words): "Write one of: \(words.joined(separator: ", "))"
        case .currency: "Write its three capital letters, as EUR"
        case .country: "Write its number, as 276 for Germany"
        case .repeated: "Keep one of the two"
        case .terminalData(_, let fault): fault.resolution
        case .caKey: "Compare the key's fields with the scheme's publication"
        case .pinClaimed: "Clear the PIN bits: a terminal without an approved PIN pad must not offer PIN"
        }
    }

    fileprivate static func count(_ bytes: ClosedRange<Int>) -> String {
        bytes.count == 1
            ? "\(bytes.lowerBound) byte\(bytes.lowerBound == 1 ? "" : "s")"
            : "\(bytes.lowerBound) to \(bytes.upperBound) bytes"
    }
}

extension TerminalFileError {
    /// Path of the member it is about; `nil` where the file is no JSON.
    public var field: String? {
        switch self {
        case .syntax: nil
        case .missing(let field), .unknown(let field), .wrongType(let field, _), .hexadecimal(let field, _),
            .outOfRange(let field, _), .notOneOf(let field, _), .currency(let field), .country(let field),
            .repeated(let field), .terminalData(let field, _), .caKey(let field, _), .pinClaimed(let field):
            field
        }
    }
}

extension TerminalFileError.Expectation {
    var phrase: String {
        switch self {
        case .object: "an object in braces"
        case .array: "an array in brackets"
        case .text: "a text in quotes"
        case .wholeNumber: "a whole number without quotes"
        case .yesOrNo: "true or false"
        }
    }
}

extension TerminalDataFault {
    fileprivate var phrase: String {
        switch self {
        case .notTerminals: "not a terminal's object"
        case .length(let bytes): "not of \(TerminalDataFault.count(bytes))"
        case .format(let format): "not \(TerminalDataFault.content(format))"
        case .meaning: "no value of this object"
        }
    }

    fileprivate var resolution: String {
        switch self {
        case .notTerminals: "Remove it: the card or the transaction brings it"
        case .length(let bytes): "Write \(TerminalDataFault.count(bytes)) in hexadecimal, as the acquirer gave them"
        case .format(let format): "Write \(TerminalDataFault.content(format)), each byte as two hexadecimal digits"
        case .meaning:
            "Write the acquirer's value: 9F35 is a terminal type of EMV Book 4, 9F1A a country of ISO 3166-1, 5F2A a currency of ISO 4217"
        }
    }

    private static func count(_ bytes: ClosedRange<Int>) -> String {
        bytes.upperBound == DataElement.unbounded
            ? "at least \(bytes.lowerBound) bytes" : TerminalFileError.count(bytes)
    }

    private static func content(_ format: ValueFormat) -> String {
        switch format {
        case .n, .cn: "decimal digits"
        case .a: "letters"
        case .an: "letters and digits"
        case .ans: "printable characters"
        case .b, .variable: "bytes"
        }
    }
}
