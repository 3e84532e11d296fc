// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

struct ArchitectureTests {
    private let table: RoomTable

    init() throws {
        table = try RoomTable(markdown: Checkout.text("docs/architecture.md"))
    }

    @Test func `every room on disk has a row, and every row its room`() throws {
        #expect(try Set(table.imports.keys) == SourceTree.rooms())
    }

    @Test func `each room imports only what its row names`() throws {
        for file in try SourceTree.swiftFiles() {
            let allowed = table.everywhere.union(table.imports[file.room] ?? [])
            for module in file.lines.compactMap(Self.importedModule) {
                #expect(allowed.contains(module), "\(file.path) imports \(module)")
            }
        }
    }

    @Test func `each row names what Package.swift says of the room, and what it imports of Swift's own`() throws {
        let dependencies = try SourceTree.dependencies()
        let known = dependencies.values.reduce(into: Set(dependencies.keys)) { $0.formUnion($1) }
        let files = Dictionary(grouping: try SourceTree.swiftFiles(), by: \.room)
        for (room, row) in table.imports {
            let depended = try #require(dependencies[room], "Package.swift has no target \(room)")
            #expect(row.intersection(known) == depended, "the row of \(room), and what Package.swift says of it")
            let imported = Set((files[room] ?? []).flatMap { $0.lines.compactMap(Self.importedModule) })
            #expect(row.subtracting(known).subtracting(imported) == [], "in the row of \(room), but not imported")
        }
    }

    @Test func `the table has no cycles and no sideways imports`() throws {
        for room in table.imports.keys { #expect(!table.reach(of: room).contains(room), "\(room) reaches itself") }
        for (one, other) in [("EMV", "Loyalty"), ("ReaderPCSC", "ReaderNFC")] {
            #expect(try #require(table.imports[one]).contains(other) == false)
            #expect(try #require(table.imports[other]).contains(one) == false)
        }
    }

    /// `a?.b = await c` opens `a` before it waits and writes into it afterwards, whatever has become of it meanwhile: in an
    /// actor that somebody else enters in between it writes over memory that is not its own.
    @Test func `nothing waits inside an assignment through an optional`() throws {
        let waiting = /\?\.[A-Za-z.]+ [-+*]?= .*\bawait\b/
        #expect("live[id]?.connection = try await open()".contains(waiting))
        for file in try SourceTree.swiftFiles() {
            for line in file.lines { #expect(!line.contains(waiting), "\(file.path): \(line)") }
        }
    }

    /// fsync(2): a file that was synced has no name on the disk before its folder was synced too.
    @Test("M7: whatever makes or renames a file has its name on the disk, or nothing rests on it")
    func durableNames() throws {
        let restsOnNothing = [
            // SQLite syncs the folder with the log's first frame, before anything is in the file.
            "JournalLock.swift",
            // Room, a count of starts and a lock: made anew wherever they are missing.
            "StorageReserve.swift", "StartPause.swift",
            // What a person has asked for and looks at: recordings, a bundle, a host's configuration.
            "OutputFile.swift", "DiagnoseCommand.swift", "HostTree.swift",
        ]
        let making = /\bO_CREAT\b|\bO_TMPFILE\b/
        var makers: Set<String> = []
        for file in try SourceTree.swiftFiles() {
            let name = String(file.path.split(separator: "/").last ?? "")
            if name != "DurableFile.swift" {
                for line in file.lines {
                    #expect(!line.contains(/Glibc\.(rename|link)\(|\brenameat2?\(/), "\(file.path): \(line)")
                }
            }
            guard file.lines.contains(where: { $0.contains(making) }) else { continue }
            makers.insert(name)
            let isDurable = file.lines.contains { $0.contains("DurableFile.") || $0.contains("enum DurableFile") }
            #expect(isDurable || restsOnNothing.contains(name), "\(file.path) makes a file past DurableFile")
        }
        #expect(makers.isSuperset(of: restsOnNothing + ["DurableFile.swift", "TillLedger.swift"]))
    }

    @Test func `libnfc is loaded by its worker process alone`() {
        let loading = table.imports.keys.filter { table.reach(of: $0).contains("CNFC") }
        #expect(Set(loading) == ["ReaderNFCWorker", "nfc-tap-libnfc-worker"])
    }

    /// Card data in the clear: of a till it is sealed, and whoever opens it is a payment service.
    @Test func `only payment services open records`() throws {
        let rooms = try SourceTree.swiftFiles().filter { file in
            file.lines.contains { $0.contains("OpenedRecord") }
        }.map(\.room)
        #expect(Set(rooms).subtracting(["Envelope", "HSM", "PSPSandbox", "Switch"]) == [])
        #expect(rooms.contains("Switch"))
    }

    @Test func `client messages cannot name a type that holds card data`() {
        // Whatever holds card data holds it in CardBytes' types.
        #expect(table.reach(of: "EMV").contains("CardBytes") && table.reach(of: "Envelope").contains("CardBytes"))
        #expect(table.imports["Wire"] != nil && !table.reach(of: "Wire").contains("CardBytes"))
    }

    @Test(arguments: [
        "everything above", "the rooms above but Wire", "CardBytes, ", "`CardBytes`", "", "CardBytes, CardBytes",
    ])
    func `a row says which modules, and nothing that has to be understood`(cell: String) throws {
        func table(_ cell: String) -> String {
            "\n## Rooms\n\n| target | what belongs in it | may import |\n|---|---|---|\n| every room | all | Swift |\n"
                + "| `Room` | things | \(cell) |\n"
        }
        #expect(try RoomTable(markdown: table("EMV, CardBytes")).imports == ["Room": ["EMV", "CardBytes"]])
        #expect(throws: RoomTable.Unreadable.self) { try RoomTable(markdown: table(cell)) }
    }

    @Test(arguments: [
        ("import EMV", "EMV"), ("public import EMV", "EMV"), ("@testable import EMV", "EMV"),
        ("internal import struct EMV.Tag", "EMV"), ("  @_exported public import EMV;", "EMV"), ("// import EMV", nil),
        ("let import = EMV", nil),
    ])
    func `an import is seen in each of its forms`(line: Substring, module: String?) {
        #expect(Self.importedModule(line) == module)
    }

    @Test func `no source file forces, traps or escapes the checker`() throws {
        let forbidden = [
            "try!", " as! ", "fatalError(", "nonisolated(unsafe)", "@unchecked Sendable", "preconditionFailure(",
        ]
        for file in try SourceTree.swiftFiles() {
            for (number, line) in file.lines.enumerated() where !line.drop(while: { $0 == " " }).hasPrefix("//") {
                for word in forbidden where line.contains(word) {
                    Issue.record("\(file.path):\(number + 1) has \(word)")
                }
            }
        }
    }

    @Test func `files stay within four hundred lines, tables excepted`() throws {
        for file in try SourceTree.swiftFiles() + SourceTree.swiftFiles(under: "Tests") {
            let isTable = file.path.hasSuffix("+Table.swift")
            #expect(isTable || file.lines.count <= 401, "\(file.path): \(file.lines.count) lines")
        }
    }

    private static func importedModule(_ line: Substring) -> String? {
        var words = line.split(separator: " ")
        while let first = words.first,
            ["public", "internal", "package", "private", "fileprivate"].contains(first) || first.hasPrefix("@")
        {
            words.removeFirst()
        }
        guard words.first == "import", words.count >= 2 else { return nil }
        let kinds: Set<Substring> = ["struct", "class", "enum", "func", "protocol", "typealias", "let", "var"]
        let name = kinds.contains(words[1]) && words.count > 2 ? words[2] : words[1]
        return String(name.prefix { $0 != "." && $0 != ";" })
    }
}
