// SPDX-License-Identifier: Apache-2.0
/// Why a virtual reader does not obey. Every description names the word that is wrong and what to write instead.
public enum VirtualCommandError: Error, Equatable, Sendable {
    /// What a command wants at one place.
    public enum Argument: String, Sendable {
        case command = "a command"
        case cardName = "a card name"
        case milliseconds = "a number of milliseconds"
        case fault = "a fault"
        case count = "a number of commands"
        case statusWord = "a status word"
    }

    case tooLong
    case missing(Argument)
    case unknownCommand(String)
    case unknownFault(String)
    case expected(String, found: String?)
    case unexpected(String, after: String)
    case notInRange(String, Argument, least: UInt64, most: UInt64)
    case notAStatusWord(String)
    /// No card of that name; `known` are those there are.
    case unknownCard(String, known: [String])
    case cardPresent(String)
    case noCard
    case tooManyFaults(most: Int)
}

extension VirtualCommandError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong: "line of more than \(VirtualCommand.longestLine) bytes: write one command a line"
        case .missing(.command):
            "empty line: write present, swap, remove, collide, delay, fault, detach, attach or state"
        case .missing(let argument): "\(argument.rawValue) is missing: add it at the end of the line"
        case .unknownCommand(let word):
            "unknown command '\(word)': write present, swap, remove, collide, delay, fault, detach, attach or state"
        case .unknownFault(let word):
            "unknown fault '\(word)': write card-gone after N, status SW at N, mute at N, garbage at N or none"
        case .expected(let keyword, nil): "'\(keyword)' is missing: write \(keyword) and a number of commands"
        case .expected(let keyword, let word?):
            "'\(word)' stands where '\(keyword)' belongs: write \(keyword) and a number"
        case .unexpected(let word, let verb): "\(verb) takes no '\(word)': leave it out"
        case .notInRange(let word, let argument, let least, let most):
            "'\(word)' is not \(argument.rawValue): write a whole number from \(least) to \(most)"
        case .notAStatusWord(let word): "'\(word)' is not a status word: write four hexadecimal digits, such as 6985"
        case .unknownCard(let name, let known) where known.isEmpty: "no card is named '\(name)'"
        case .unknownCard(let name, let known):
            "no card is named '\(name)': write one of \(known.joined(separator: ", "))"
        case .cardPresent(let name): "card '\(name)' is in the field: use swap, or remove it first"
        case .noCard: "no card in the field: present one first"
        case .tooManyFaults(let most): "\(most) faults are armed already: use fault none first"
        }
    }
}
