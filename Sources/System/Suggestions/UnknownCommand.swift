// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser

/// A word where a command is expected that names none, and the command that was probably meant.
package struct UnknownCommand: Equatable, Sendable {
    /// What the word follows: `nfc-tap`, or `nfc-tap end-of-day`.
    package let parent: String
    package let word: String
    /// The nearest command; `nil` if none is near.
    package let nearest: String?

    private init(parent: String, word: String, nearest: String?) {
        self.parent = parent
        self.word = word
        self.nearest = nearest
    }

    /// - Parameter arguments: those of the program, without its name.
    /// - Returns: `nil` if every word names a command, or may be an argument of the command that runs without a name.
    package static func find(in arguments: [String], of root: any ParsableCommand.Type) -> UnknownCommand? {
        var configuration = root.configuration
        var path = [root._commandName]
        for word in arguments {
            let commands = configuration.subcommands
            guard !word.hasPrefix("-"), !commands.isEmpty else { return nil }
            // The library's own command shows the help of the words that follow.
            if word == "help" { continue }
            var names: [String] = []
            var next: (any ParsableCommand.Type)?
            for command in commands {
                let own = [command._commandName] + command.configuration.aliases
                if own.contains(word) { next = command }
                names += own
            }
            if let next {
                configuration = next.configuration
                path.append(next._commandName)
                continue
            }
            let nearest = word.nearest(of: names)
            if nearest == nil, configuration.defaultSubcommand != nil { return nil }
            return UnknownCommand(parent: path.joined(separator: " "), word: word, nearest: nearest)
        }
        return nil
    }
}

extension UnknownCommand: CustomStringConvertible {
    package var description: String {
        let isShown = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory != .control }
        let shown = String(String.UnicodeScalarView(word.unicodeScalars.filter(isShown).prefix(40)))
        guard let nearest else { return "Unknown command '\(shown)'; '\(parent) --help' lists the commands." }
        return "Unknown command '\(shown)'. Did you mean '\(parent) \(nearest)'?"
    }
}

extension ParsableCommand {
    /// The error that a person can use: of an unknown command or option it names the nearest one.
    package static func explained(_ error: any Error, in arguments: [String]) -> any Error {
        guard exitCode(for: error) == .validationFailure else { return error }
        if let unknown = UnknownCommand.find(in: arguments, of: self) { return ValidationError("\(unknown)") }
        return unknownOption(in: arguments).map { ValidationError($0) } ?? error
    }

    /// An argument that takes all words takes the value of an unknown option too, and complains of that first.
    private static func unknownOption(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = self
        for word in arguments {
            let below = command.configuration.subcommands
            if let next = below.first(where: { $0._commandName == word || $0.configuration.aliases.contains(word) }) {
                command = next
            }
        }
        guard command.configuration.subcommands.isEmpty else { return nil }
        let help = helpMessage(for: command, includeHidden: true)
        let known = Set(help.matches(of: /--[a-z][a-z0-9-]*/).map { String($0.output) })
        let given = arguments.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }.map { $0.prefix { $0 != "=" } }
        guard let unknown = given.first(where: { !known.contains(String($0)) }).map(String.init),
            unknown.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        let meant = unknown.nearest(of: known.sorted())
        return "Unknown option '\(unknown)'" + (meant.map { ". Did you mean '\($0)'?" } ?? ".")
    }
}

extension AsyncParsableCommand {
    /// Runs the program as `main()` does, and names the nearest command where none is named.
    package static func mainWithSuggestions() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: explained(error, in: Array(CommandLine.arguments.dropFirst())))
        }
    }
}
