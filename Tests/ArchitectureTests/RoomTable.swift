// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The table of docs/architecture.md: the rooms and what each may import.
struct RoomTable {
    /// The table cannot be read; the text says where.
    struct Unreadable: Error, CustomStringConvertible {
        var description: String
    }

    /// The first cell of the row that is open to all.
    private static let everyRoom = "every room"

    let everywhere: Set<String>
    let imports: [String: Set<String>]

    /// Reads rows of three cells: a room's name in backticks (or several, separated by commas), what belongs there, and the
    /// modules, separated by commas, or a dash. Whatever else stands there is not guessed at.
    init(markdown: String) throws(Unreadable) {
        guard let section = markdown.components(separatedBy: "\n## Rooms\n").dropFirst().first else {
            throw Unreadable(description: "no section “Rooms”")
        }
        let lines = section.components(separatedBy: "\n## ")[0].split(separator: "\n").filter { $0.hasPrefix("|") }
        guard lines.prefix(2) == ["| target | what belongs in it | may import |", "|---|---|---|"] else {
            throw Unreadable(description: "no table with the expected columns")
        }
        var imports: [String: Set<String>] = [:]
        for line in lines.dropFirst(2) {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3 else { throw Unreadable(description: "not three cells: \(line)") }
            for name in cells[0].components(separatedBy: ", ") {
                let room = name == Self.everyRoom ? name : String(name.dropFirst().dropLast())
                guard name == Self.everyRoom || name == "`\(room)`", imports[room] == nil else {
                    throw Unreadable(description: "not a name in backticks, or its second row: \(name)")
                }
                imports[room] = try Self.modules(cells[2])
            }
        }
        guard let everywhere = imports.removeValue(forKey: Self.everyRoom) else {
            throw Unreadable(description: "no row for every room")
        }
        self.everywhere = everywhere
        self.imports = imports
    }

    private static func modules(_ cell: String) throws(Unreadable) -> Set<String> {
        let names = cell == "–" ? [] : cell.components(separatedBy: ", ")
        for name in names {
            guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
                throw Unreadable(description: "not the name of a module: “\(name)”")
            }
        }
        guard Set(names).count == names.count else { throw Unreadable(description: "a module twice: \(cell)") }
        return Set(names)
    }

    /// Everything a room reaches by its imports and theirs.
    func reach(of room: String) -> Set<String> {
        var reached: Set<String> = []
        var next = imports[room] ?? []
        while let module = next.popFirst() {
            if reached.insert(module).inserted { next.formUnion(imports[module] ?? []) }
        }
        return reached
    }
}
