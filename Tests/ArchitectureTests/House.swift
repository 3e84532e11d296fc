// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The house as Package.swift builds it: what the package manager understands of that file.
struct House {
    struct Room: Equatable {
        let name: String
        let floor: String
        let uses: Set<String>
    }

    /// What is built of another folder than a room's: tests, rigs, benchmarks, examples.
    struct Outbuilding {
        let name: String
        let path: String
        let uses: Set<String>
    }

    let rooms: [String: Room]
    /// The floors in the order of Package.swift: a room uses what stands before its own floor, or on it.
    let floors: [String]
    private(set) var outbuildings: [Outbuilding] = []

    init(_ rooms: [Room]) {
        self.rooms = Dictionary(rooms.map { ($0.name, $0) }) { first, _ in first }
        floors = rooms.reduce(into: []) { floors, room in
            if !floors.contains(room.floor) { floors.append(room.floor) }
        }
    }

    /// Modules that an import can only mean one of this file by: ours, and what it takes from other packages.
    var modules: Set<String> {
        let uses = rooms.values.map(\.uses) + outbuildings.map(\.uses)
        return Set(uses.joined()).union(rooms.keys).union(outbuildings.map(\.name))
    }

    /// Arrows to a floor below the room's own, each as `Room on Floor uses Room on Floor`.
    var arrowsDown: [String] {
        let place = Dictionary(uniqueKeysWithValues: floors.enumerated().map { ($1, $0) })
        return rooms.values.flatMap { room in
            room.uses.compactMap { rooms[$0] }
                .filter { (place[$0.floor] ?? 0) > (place[room.floor] ?? 0) }
                .map { "\(room.name) on \(room.floor) uses \($0.name) on \($0.floor)" }
        }.sorted()
    }

    /// Pairs of floors that use each other.
    var mutualFloors: [String] {
        let arrows = Set(
            rooms.values.flatMap { room in
                room.uses.compactMap { rooms[$0]?.floor }.filter { $0 != room.floor }.map { [room.floor, $0] }
            })
        return arrows.filter { arrows.contains($0.reversed()) && $0 == $0.sorted() }
            .map { $0.joined(separator: " and ") }.sorted()
    }

    /// Everything a room reaches by what it uses, and by what that uses.
    func reach(of room: String) -> Set<String> {
        var reached: Set<String> = []
        var next = rooms[room]?.uses ?? []
        while let module = next.popFirst() {
            if reached.insert(module).inserted { next.formUnion(rooms[module]?.uses ?? []) }
        }
        return reached
    }

    /// How many lines a room is compiled against: its own, and those of everything that it reaches.
    ///
    /// - Parameter lines: of each room by itself.
    func weight(of room: String, _ lines: [String: Int]) -> Int {
        reach(of: room).union([room]).reduce(0) { $0 + (lines[$1] ?? 0) }
    }

    /// The same house with one more arrow.
    func adding(_ used: String, to room: String) -> House {
        House(
            rooms.values.map {
                Room(name: $0.name, floor: $0.floor, uses: $0.name == room ? $0.uses.union([used]) : $0.uses)
            })
    }

    /// Package.swift as `swift package dump-package` prints it.
    static func read() throws -> House {
        struct Package: Decodable {
            var targets: [Target]
        }
        struct Target: Decodable {
            var name: String
            var path: String?
            var dependencies: [[String: [Part]]]
        }
        /// `{"byName": ["EMV", null]}`: the name stands first, and conditions after it do not matter here.
        enum Part: Decodable {
            case name(String)
            case other

            init(from decoder: any Decoder) throws {
                self = (try? decoder.singleValueContainer().decode(String.self)).map(Part.name) ?? .other
            }
        }

        // With a scratch path of its own it does not wait for the `swift test` it was started by.
        let scratch = FileManager.default.temporaryDirectory.appending(path: "architecture-\(getpid())")
        let json = try Peer.run(
            "swift",
            ["package", "--package-path", Checkout.root.path, "--scratch-path", scratch.path, "dump-package"]
        ).bytes
        var (rooms, outbuildings): ([Room], [Outbuilding]) = ([], [])
        for target in try JSONDecoder().decode(Package.self, from: json).targets {
            let path = target.path ?? ""
            let folders = path.split(separator: "/").map(String.init)
            let uses = target.dependencies.flatMap(\.values).compactMap { parts in
                if case .name(let name)? = parts.first { name } else { nil }
            }
            if folders.count == 3, folders[0] == "Sources" {
                rooms.append(Room(name: target.name, floor: folders[1], uses: Set(uses)))
            } else {
                outbuildings.append(Outbuilding(name: target.name, path: path, uses: Set(uses)))
            }
        }
        var house = House(rooms)
        house.outbuildings = outbuildings
        return house
    }
}
