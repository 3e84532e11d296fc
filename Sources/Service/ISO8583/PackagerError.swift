// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a packager file: where, what, and what to write instead.
public enum PackagerError: Error, Equatable, Sendable {
    /// Not JSON, or a name twice in an object; offset in bytes.
    case notJSON(offset: Int?)
    case missing(String)
    case unknownMember(String)
    case wrongKind(String, wanted: String)
    case notOneOf(String, [String])
    case notAFormat(field: Int, String)
    case fieldOutOfRange(String)
    case fieldTwice(Int)
    case doesNotFit(field: Int, FieldConflict)
    case notADataObject(String, String)
    /// A data object that no host may get.
    case forbiddenDataObject(String, String)
    case noSuchField(String, field: Int)
    case notInItself(String, field: Int)
}

/// Settings of a field that exclude each other.
public enum FieldConflict: Equatable, Sendable {
    case bcdOfCharacters, binaryOfCharacters, charactersOfBinary, uncountedDigits, lengthTooSmall
}

extension PackagerError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notJSON(let offset):
            "not JSON" + (offset.map { " at byte \($0)" } ?? ": the end is missing")
                + "; write each name once and no comments"
        case .missing(let member): "“\(member)” is missing: add it, or name a “base” that has it"
        case .unknownMember(let member): "“\(member)” is unknown: remove it or correct its name"
        case .wrongKind(let member, let wanted): "“\(member)”: write \(wanted)"
        case .notOneOf(let member, let values): "“\(member)”: write one of \(values.joined(separator: ", "))"
        case .notAFormat(let field, let text):
            "field \(field): format “\(text)” is unknown; write a type and a length as in n6, n..19, an12, ans...999, "
                + "b8 (bytes), z..37, x+n8"
        case .fieldOutOfRange(let member): "“\(member)”: write a number from 2 to 128 except 65"
        case .fieldTwice(let field): "field \(field) stands twice: remove one"
        case .doesNotFit(let field, let conflict): "field \(field): \(conflict.remedy)"
        case .notADataObject(let member, let text): "“\(member)”: “\(text)” is not a tag; write hexadecimal as in 9F26"
        case .forbiddenDataObject(let member, let tag): "“\(member)”: \(tag) must not be sent; remove it"
        case .noSuchField(let member, let field): "“\(member)” names field \(field): add it to “fields”"
        case .notInItself(let member, let field):
            "“\(member)” names field \(field), which is set by the program: remove it"
        }
    }
}

extension FieldConflict {
    var remedy: String {
        switch self {
        case .bcdOfCharacters: "only n, z and x+n can be packed as bcd; change “encoding” or “format”"
        case .binaryOfCharacters: "only b can be binary or hex; change “encoding” or “format”"
        case .charactersOfBinary: "b is packed as binary or hex; change “encoding”"
        case .uncountedDigits: "a length in bytes of bcd needs “pad” right-F, or the last digit is not known"
        case .lengthTooSmall: "the length in front has too few digits for the characters; write ... or a smaller length"
        }
    }
}
