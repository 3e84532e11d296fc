// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import Suggestions

private struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tool", subcommands: [Pay.self, Status.self, Day.self])
}

private struct Pay: ParsableCommand {
    @Argument var amount: [String] = []
    @Option var language: String?

    func validate() throws {
        guard amount.count < 3 else { throw ValidationError("Give an amount.") }
    }
}

private struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(aliases: ["state"])
}

private struct Day: ParsableCommand {
    static let configuration = CommandConfiguration(
        subcommands: [Close.self, Show.self], defaultSubcommand: Close.self)
}

private struct Close: ParsableCommand {}
private struct Show: ParsableCommand {}

@Suite struct SuggestionTests {
    /// Distances as Damerau, "A technique for computer detection and correction of spelling errors" (1964), counts them.
    @Test(
        "D10: a letter too many, too few, wrong or swapped is one step",
        arguments: [
            ("payy", "pay", 1), ("pa", "pay", 1), ("pey", "pay", 1), ("pya", "pay", 1), ("statsu", "status", 1),
            ("kitten", "sitting", 3), ("", "pay", 3), ("pay", "", 3), ("pay", "pay", 0), ("PAY", "pay", 0),
        ])
    func distances(word: String, name: String, distance: Int) {
        #expect(word.distance(to: name) == distance && name.distance(to: word) == distance)
    }

    @Test(
        "D10: an unknown command is told with the nearest one, at every level",
        arguments: [
            (["payy", "12.50", "EUR"], "tool", "pay"), (["statsu"], "tool", "status"), (["stats"], "tool", "status"),
            (["sate"], "tool", "state"), (["sta"], "tool", "status"), (["day", "shwo", "3"], "tool day", "show"),
            (["refund"], "tool", nil), (["xx"], "tool", nil),
        ] as [([String], String, String?)])
    func unknown(arguments: [String], parent: String, nearest: String?) throws {
        let unknown = try #require(UnknownCommand.find(in: arguments, of: Root.self))
        #expect(unknown.parent == parent && unknown.nearest == nearest)
        let told = Root.message(for: Root.explained(try #require(Self.failure(arguments)), in: arguments))
        #expect(told.contains(nearest.map { "Did you mean '\(parent) \($0)'?" } ?? "--help"), "\(told)")
    }

    @Test(
        "D10: what is no command's name keeps its own error",
        arguments: [
            [], ["--help"], ["pay"], ["pay", "1", "2", "3"], ["day", "whatever"], ["--payy"], ["state", "--payy"],
        ])
    func others(arguments: [String]) { #expect(UnknownCommand.find(in: arguments, of: Root.self) == nil) }

    @Test("D10: an unknown option is told though an argument has taken its value")
    func options() throws {
        let arguments = ["pay", "1", "2", "--langage", "de"]
        let told = Root.message(for: Root.explained(try #require(Self.failure(arguments)), in: arguments))
        #expect(told.contains("Unknown option '--langage'. Did you mean '--language'?"), "\(told)")
        let own = ["pay", "1", "2", "3", "--language", "de"]
        #expect(Root.message(for: Root.explained(try #require(Self.failure(own)), in: own)).contains("Give an amount."))
    }

    @Test("D10: what reaches the terminal is without its commands")
    func controls() throws {
        let unknown = try #require(UnknownCommand.find(in: ["\u{1B}[31mpayy"], of: Root.self))
        #expect(!"\(unknown)".contains("\u{1B}"))
    }

    private static func failure(_ arguments: [String]) -> (any Error)? {
        do {
            _ = try Root.parseAsRoot(arguments)
            return nil
        } catch {
            return error
        }
    }
}
