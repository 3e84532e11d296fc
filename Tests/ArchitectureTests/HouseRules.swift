// SPDX-License-Identifier: Apache-2.0

/// What each file of `Sources` keeps to, beside its room. Each rule returns who breaks it.
enum HouseRules {
    static let mostUnsafe = 3
    static let mostProperties = 15
    static let mostMethods = 30

    typealias File = (path: String, source: SwiftSource)

    // MARK: - Unsafe

    /// Numbers of the lines on which an `unsafe` has no reason: a comment on the line, directly above its statement or a
    /// statement around it, or one above a declaration around it that speaks of `unsafe`.
    static func unreasoned(_ source: SwiftSource) -> [Int] {
        source.lines.indices.flatMap { number -> [Int] in
            let words = source.lines[number].code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            let count = words.count { $0 == "unsafe" }
            return count > 0 && !hasReason(number, source.lines) ? Array(repeating: number + 1, count: count) : []
        }
    }

    private static func hasReason(_ number: Int, _ lines: [SwiftSource.Line]) -> Bool {
        guard lines[number].comment.isEmpty else { return true }
        var (head, isContinued) = (number, true)
        for above in (0...number).reversed() {
            let line = lines[above]
            guard !line.words.isEmpty else { continue }
            let isOuter = line.indent < lines[head].indent || (isContinued && line.indent == lines[head].indent)
            guard above == number || isOuter else { continue }
            head = above
            // `} else {`, `)` and `case` go on with a statement that began further up.
            let isCase = ["case", "default:"].contains(line.words.prefix { $0 != " " })
            isContinued = isCase || line.words.first.map { "})]?:&|".contains($0) } ?? false
            if isContinued { continue }
            let comment = SwiftSource.comment(above: above, lines)
            let isDeclaration = Declaration(line.words).isDeclaration || isComputed(line)
            if !comment.isEmpty, !isDeclaration || comment.lowercased().contains("unsafe") { return true }
        }
        return false
    }

    private static func isComputed(_ line: SwiftSource.Line) -> Bool {
        let declaration = Declaration(line.words)
        return declaration.keyword == "var" && line.words.hasSuffix("{") && declaration.stored(before: "").isEmpty
    }

    static func unsafeFiles(_ files: [File]) -> [String] {
        files.compactMap { file in
            let lines = unreasoned(file.source)
            return lines.count > mostUnsafe ? "\(file.path): \(lines)" : nil
        }
    }

    // MARK: - Terminal

    /// Places in programs that write to the terminal without what takes commands to it out.
    static func barePrints(_ files: [File]) -> [String] {
        files.filter { $0.path.hasPrefix("Sources/Programs/") }.flatMap { file -> [String] in
            let code = file.source.lines.map(\.code)
            guard !code.contains(where: { $0.contains("func print(") }) else { return [] }
            return code.indices.filter { code[$0].contains(/(^|[^.\w])(print|debugPrint|dump|puts|fputs|printf)\(/) }
                .map {
                    "\(file.path):\($0 + 1)"
                }
        }
    }

    // MARK: - Sizes

    /// A type that holds so much says in its comment why it has so many stored properties.
    static func crowdedTypes(_ files: [File]) -> [String] {
        files.flatMap { file in
            file.source.bodies.filter {
                $0.properties.count > mostProperties && !$0.comment.contains("stored propert")
            }.map { "\(file.path): \($0.name) has \($0.properties.count) stored properties" }
        }
    }

    static func busyActors(_ files: [File]) -> [String] {
        let bodies = files.flatMap(\.source.bodies)
        let actors = Set(bodies.filter { $0.kind == "actor" }.map(\.name))
        return actors.sorted().compactMap { name in
            let count = bodies.filter { $0.name == name }.map(\.methods).reduce(0, +)
            return count > mostMethods ? "\(name) has \(count) methods" : nil
        }
    }

    // MARK: - Files

    static func looseFiles(_ paths: [String]) -> [String] {
        paths.filter { $0.hasPrefix("Sources/Daemon/TapDaemon/") && $0.split(separator: "/").count == 4 }
            .filter { !$0.hasPrefix("Sources/Daemon/TapDaemon/Daemon") }
    }

    /// Pairs of a room's folders that use each other's types. A type belongs to the folder that declares it outside every other type;
    /// what stands behind a dot is a member of something else.
    static func mutualFolders(of files: [File]) -> [String] {
        func folder(_ file: File) -> String {
            file.path.split(separator: "/").dropFirst(3).dropLast().first.map(String.init) ?? "."
        }
        var owners: [Substring: String] = [:]
        for file in files {
            for line in file.source.lines where line.indent == 0 {
                let words = line.code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                guard !words.contains("private"), !words.contains("fileprivate"),
                    let keyword = words.firstIndex(where: kinds.contains), keyword + 1 < words.count
                else { continue }
                owners[words[keyword + 1]] = folder(file)
            }
        }
        var arrows: Set<[String]> = []
        for file in files {
            let own = folder(file)
            for word in file.source.lines.flatMap({ $0.code.split { " ,:()[]{}<>?!&=;@\\\"+-*/|".contains($0) } }) {
                if let owner = owners[word.prefix { $0 != "." }], owner != own { arrows.insert([own, owner]) }
            }
        }
        return arrows.filter { arrows.contains($0.reversed()) && $0 == $0.sorted() }
            .map { $0.joined(separator: " and ") }.sorted()
    }

    private static let kinds: Set<Substring> = ["struct", "enum", "class", "actor", "protocol", "typealias"]

    /// Names of files that stand in two rooms.
    static func sharedNames(_ paths: [String]) -> [String] {
        let rooms = Dictionary(grouping: paths) { String($0.split(separator: "/").last ?? "") }
            .mapValues { Set($0.map { $0.split(separator: "/")[2] }) }
        return rooms.filter { $0.value.count > 1 }.map { "\($0.key): \($0.value.sorted())" }.sorted()
    }

    // MARK: - Comments

    /// Lines that declare a public function or initializer that throws, and whose comment does not say when.
    static func silentThrows(_ source: SwiftSource) -> [Int] {
        source.lines.indices.filter { number in
            let words = source.lines[number].words
            let keyword = Declaration(words).keyword
            guard words.hasPrefix("public ") || words.contains(" public "),
                ["func", "init", "subscript"].contains(keyword)
            else { return false }
            return isThrowing(number, source.lines)
                && !SwiftSource.comment(above: number, source.lines).contains("Throws:")
        }.map { $0 + 1 }
    }

    /// Whether `throws` stands between a declaration's parameters and its body.
    private static func isThrowing(_ number: Int, _ lines: [SwiftSource.Line]) -> Bool {
        var (depth, seen) = (0, "")
        for (offset, line) in lines[number...].prefix(20).enumerated() {
            let begins = offset > 0 && depth == 0
            // The next declaration of a protocol begins a line, and so does the end of its body.
            if begins, line.isBlank || line.isComment || Declaration(line.words).isDeclaration { break }
            if begins, line.words.hasPrefix("}") || ["var", "let"].contains(Declaration(line.words).keyword) { break }
            for character in line.code {
                if "([".contains(character) { depth += 1 }
                if ")]".contains(character) { depth -= 1 }
                if depth == 0, character == "{" { return seen.contains(" throws") }
                if depth == 0 { seen.append(character) }
            }
            seen += " "
        }
        return seen.contains(" throws")
    }

    /// Words that stand for a noun, which a comment's first line cannot have named yet. “This user” and “Which key” name theirs.
    private static let pronouns: Set<Substring> = [
        "Both", "He", "Her", "His", "It", "Its", "She", "That", "Their", "Them", "They", "Those", "Whom", "Whose",
    ]

    /// Lines on which a comment of a declaration begins with a pronoun.
    static func pronounsFirst(_ source: SwiftSource) -> [Int] {
        source.lines.indices.filter { number in
            let comment = source.lines[number].comment
            guard source.lines[number].isComment, comment.hasPrefix("///") else { return false }
            if number > 0, source.lines[number - 1].isComment, source.lines[number - 1].comment.hasPrefix("///") {
                return false
            }
            return comment.dropFirst(3).split { !$0.isLetter }.first.map(pronouns.contains) ?? false
        }.map { $0 + 1 }
    }
}
