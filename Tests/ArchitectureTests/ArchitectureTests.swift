// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

struct ArchitectureTests {
    private static let read = Result { try House.read() }

    private let house: House

    init() throws { house = try Self.read.get() }

    /// Modules of Swift's own that every room may import, and those that reach the system: these rooms alone do.
    private static let everywhere: Set = ["Swift", "Synchronization"]
    private static let reachingSystem: [String: Set<String>] = [
        "Dispatch": ["TapDaemon"],
        "FoundationEssentials": ["AcquirerSimulator", "Gateway", "PaymentValues", "nfc-tap"],
        "Glibc": [
            "AcquirerSimulator", "CardBytes", "Configuration", "Doctor", "Gateway", "HSM", "Hub", "Issuing",
            "Journal", "KernelDiff", "Linux", "LocalHTTP", "nfc-tap", "nfc-tap-acquirer-sim", "nfc-tap-gateway",
            "nfc-tap-libnfc-worker", "nfc-tap-profile", "nfc-tap-switch", "nfc-tapd", "PSPSandbox", "ReaderNFC",
            "ReaderNFCWorker", "ReaderPCSC", "ReaderVirtual", "ServiceProgram", "Settings", "TapDaemon", "TapSession",
            "TillBridge",
        ],
    ]

    @Test func `every room on disk is a line of Package.swift, on the same floor`() throws {
        let lines = Dictionary(grouping: house.rooms.values, by: \.floor).mapValues { Set($0.map(\.name)) }
        #expect(try SourceTree.floors() == lines)
        #expect(house.floors.count == 10)
    }

    @Test func `each room imports only what its line in Package.swift names`() throws {
        var reaching: [String: Set<String>] = [:]
        for file in try SourceTree.swiftFiles() {
            let allowed = Self.everywhere.union(house.rooms[file.room]?.uses ?? [])
            for module in file.lines.compactMap(Self.importedModule) where !allowed.contains(module) {
                reaching[module, default: []].insert(file.room)
                let isOfSystem = Self.reachingSystem[module]?.contains(file.room) ?? false
                #expect(isOfSystem, "\(file.path) imports \(module)")
            }
        }
        // A room that no longer reaches the system leaves the list.
        #expect(reaching == Self.reachingSystem)
    }

    @Test func `each line of Package.swift names only what its room imports`() throws {
        let files = Dictionary(grouping: try SourceTree.swiftFiles(), by: \.room)
        for (name, room) in house.rooms {
            let imported = Set((files[name] ?? []).flatMap { $0.lines.compactMap(Self.importedModule) })
            // They stand before and behind a program's own code: nothing calls them.
            let linked: Set = ["CArguments", "CScrub"]
            #expect(room.uses.subtracting(imported).subtracting(linked) == [], "in the line of \(name)")
        }
    }

    /// Beside others that have built its modules before, a file builds by luck that imports what its target does not name; a clean
    /// build fails.
    @Test func `each test, rig and benchmark imports only what its target in Package.swift names`() throws {
        let modules = Set(house.modules.map(Self.module))
        var seen: Set<String> = []
        for target in house.outbuildings {
            let allowed = Set(target.uses.union([target.name]).map(Self.module))
            for file in try SourceTree.swiftFiles(in: target.path) {
                let imported = file.lines.compactMap(Self.importedModule)
                seen.formUnion(imported)
                for module in imported where modules.contains(module) && !allowed.contains(module) {
                    Issue.record("\(file.path) imports \(module), and \(target.name) does not name it in Package.swift")
                }
            }
        }
        #expect(seen.isSuperset(of: ["Rigs", "TestSupport", "EMV", "Crypto"]))
    }

    @Test func `no room uses a floor below its own, no two floors use each other, and no room reaches itself`() {
        #expect(house.arrowsDown == [])
        #expect(house.mutualFloors == [])
        for room in house.rooms.keys { #expect(!house.reach(of: room).contains(room), "\(room) reaches itself") }
    }

    @Test func `two kinds of cards, and two kinds of readers, know nothing of each other`() throws {
        for pair in [["EMV", "Loyalty"], ["ReaderPCSC", "ReaderNFC"]] {
            for (one, other) in [(pair[0], pair[1]), (pair[1], pair[0])] {
                #expect(try #require(house.rooms[one]).uses.contains(other) == false)
            }
        }
    }

    /// Programs that see no card: how many lines of ours each may be compiled against, and the room behind it.
    private static let smallPrograms = [("nfc-tap-gateway", 17_000, "Gateway"), ("nfc-tap-ecr", 23_500, "TillBridge")]

    @Test(arguments: smallPrograms)
    func `a small program is compiled against few lines of ours, and one wrong dependency is found`(
        program: String, most: Int, room: String
    ) throws {
        let lines = try SourceTree.lines()
        #expect(lines[program] ?? 0 > 0 && house.reach(of: program).contains(room))
        let weight = house.weight(of: program, lines)
        let rooms = house.reach(of: program).compactMap { room in lines[room].map { (room, $0) } }
            .sorted { $0.1 > $1.1 }.map { "\($0.0) \($0.1)" }
        #expect(
            weight <= most,
            "\(program) is compiled against \(weight) lines: take a dependency out. It reaches \(rooms.joined(separator: ", "))"
        )
        for wrong in ["Configuration", "EMV", "TapSession"] {
            #expect(house.adding(wrong, to: room).weight(of: program, lines) > most, "\(wrong)")
        }
    }

    @Test func `an arrow downwards and a pair of floors are found`() {
        let good = House.Room(name: "High", floor: "One", uses: [])
        let low = House.Room(name: "Low", floor: "Two", uses: ["High"])
        #expect(House([good, low]).arrowsDown == [] && House([good, low]).mutualFloors == [])
        let bad = House([House.Room(name: "High", floor: "One", uses: ["Low"]), low])
        #expect(bad.arrowsDown == ["High on One uses Low on Two"])
        #expect(bad.mutualFloors == ["One and Two"])
    }

    /// `docs/internals/architecture.md` says what belongs where: each floor has a heading, and each room a row under it.
    @Test func `the page of the architecture has each room on its floor`() throws {
        var floors: [String: Set<String>] = [:]
        var floor = ""
        for line in try Checkout.text("docs/internals/architecture.md").split(separator: "\n") {
            if line.hasPrefix("#") { floor = line.hasPrefix("### ") ? String(line.dropFirst(4)) : "" }
            guard house.floors.contains(floor), line.hasPrefix("| `") else { continue }
            let cell = line.dropFirst(2).prefix { $0 != "|" }
            for name in cell.split(separator: "`") where name.contains(/^[A-Za-z]/) {
                #expect(floors[floor, default: []].insert(String(name)).inserted, "a second row: \(name)")
            }
        }
        #expect(try floors == SourceTree.floors())
    }

    /// `a?.b = await c` opens `a` before it waits and writes into it afterwards, whatever has become of it meanwhile: in an
    /// actor that somebody else enters in between it writes over memory that is not its own.
    @Test func `nothing waits inside an assignment through an optional`() throws {
        let waiting = /\?\.[A-Za-z.]+ [-+*]?= .*\bawait\b/
        #expect("live[id]?.connection = try await open()".contains(waiting))
        for file in try SourceTree.swiftFiles() where file.mentions("await") {
            for line in file.lines where line.contains("await") {
                #expect(!line.contains(waiting), "\(file.path): \(line)")
            }
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
            if name != "DurableFile.swift", file.mentions("rename", "link(") {
                for line in file.lines {
                    #expect(!line.contains(/Glibc\.(rename|link)\(|\brenameat2?\(/), "\(file.path): \(line)")
                }
            }
            guard file.mentions("O_CREAT", "O_TMPFILE"), file.text.contains(making) else { continue }
            makers.insert(name)
            let isDurable = file.mentions("DurableFile.", "enum DurableFile")
            #expect(isDurable || restsOnNothing.contains(name), "\(file.path) makes a file past DurableFile")
        }
        #expect(makers.isSuperset(of: restsOnNothing + ["DurableFile.swift", "TillLedger.swift"]))
    }

    @Test func `libnfc is loaded by its worker process alone`() {
        let loading = house.rooms.keys.filter { house.reach(of: $0).contains("CNFC") }
        #expect(Set(loading) == ["ReaderNFCWorker", "nfc-tap-libnfc-worker"])
    }

    /// Card data in the clear: of a till it is sealed, and whoever opens it is a payment service.
    @Test func `only payment services open records`() throws {
        let rooms = try SourceTree.swiftFiles().filter { $0.mentions("OpenedRecord") }.map(\.room)
        #expect(Set(rooms).subtracting(["Envelope", "HSM", "PSPSandbox", "Switch"]) == [])
        #expect(rooms.contains("Switch"))
    }

    @Test func `client messages cannot name a type that holds card data`() {
        // Whatever holds card data holds it in CardBytes' types.
        #expect(house.reach(of: "EMV").contains("CardBytes") && house.reach(of: "Envelope").contains("CardBytes"))
        for room in ["PaymentValues", "POSAPI"] {
            #expect(house.rooms[room] != nil && !house.reach(of: room).contains("CardBytes"))
        }
        // A PIN is in the messages of its device and of payment services, and in none of a till.
        for room in ["POSAPI", "nfc-tap-ecr"] { #expect(!house.reach(of: room).contains("PINDeviceAPI")) }
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

    /// A target's name as imports have it.
    private static func module(_ target: String) -> String { target.replacing("-", with: "_") }

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
