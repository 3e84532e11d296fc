// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// A vending machine of another hand on a pseudo-terminal, with the daemon, the bridge and the sandbox as they are installed. No UART and no
/// real machine is there.
@Suite("Vending machines", .timeLimit(.minutes(5)))
struct VendingTests {
    private typealias Booking = TillShop.Booking

    /// A shop whose only till is a vending machine that sells by itself.
    private final class Kiosk {
        let shop: Shop
        private let machine = Process()
        private let (orders, words) = (Pipe(), Pipe())
        private var bridge: Process?

        var configuration: URL { shop.folder.appending(path: "ecr.toml") }

        /// - Parameter sales: as vending.py takes them; none for no machine, but a line of its own.
        init(_ sales: [String], escaped: Bool = true) throws {
            shop = try Shop(
                configuration: "[[lane]]\nname = \"drinks\"\nreader = \"virtual:FOLDER/reader.sock\"\n")
            let line = shop.folder.appending(path: "line").path
            let table = """
                socket = "\(shop.posSocket)"
                directory = "\(shop.folder.path)"
                [[till]]
                name = "drinks"
                protocol = "mdb"
                device = "\(line)"
                lane = "drinks"
                test = true
                escaped = \(escaped)

                """
            try Data(table.utf8).write(to: configuration)
            try shop.awaitReader()
            try shop.card("present visa")
            machine.executableURL = URL(filePath: Peer.python)
            machine.arguments = [Checkout.file("Tests/Tills/MDBTests/vending.py").path, line] + sales
            (machine.standardInput, machine.standardOutput) = (orders, words)
            try machine.run()
            try shop.eventually("the machine's line") { FileManager.default.fileExists(atPath: line) }
        }

        deinit {
            end(SIGTERM)
            if machine.isRunning { machine.terminate() }
            while machine.isRunning { usleep(2_000) }
        }

        func begin() throws {
            bridge = try Program.bridge.launch(
                ["--config", configuration.path, "--verbose"], in: shop.folder, environment: ["TZ": "UTC"])
        }

        func end(_ signal: Int32) {
            guard let bridge, bridge.isRunning else { return }
            kill(bridge.processIdentifier, signal)
            while bridge.isRunning { usleep(2_000) }
        }

        /// What the machine says next; empty when it has ended.
        func heard() throws -> String {
            var line = Data()
            while let byte = try words.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line += byte }
            return String(decoding: line, as: UTF8.self)
        }

        func goOn() throws { try orders.fileHandleForWriting.write(contentsOf: Data("\n".utf8)) }

        func books() throws -> [Booking] {
            let list = try shop.get("/v1/transactions?lane=drinks")["transactions"] as? [[String: Any]] ?? []
            return list.reversed().map(Booking.init)
        }
    }

    @Test("What is sold is kept once, what fails goes back, and a card that is declined or pays a part gets nothing")
    func sales() throws {
        let kiosk = try Kiosk(["150:sold", "251:sold", "160:failed", "210:sold", "180:sold"])
        try kiosk.begin()
        let heard = try (0..<5).map { _ in try kiosk.heard() }
        #expect(heard == ["sold", "denied", "failed", "denied", "sold"])
        let wanted = [
            Booking("approved", 150, isConfirmed: true), Booking("declined", 251), Booking("reversed", 160),
            Booking("reversed", 210), Booking("approved", 180, isConfirmed: true),
        ]
        try kiosk.shop.eventually("books that are settled") { try kiosk.books() == wanted }
        #expect(try kiosk.shop.ledgerEntries().count >= 4)
        #expect(try kiosk.heard().isEmpty)
    }

    @Test("A bridge that is killed while the machine hands out the goods settles the sale when it is back, once")
    func killedAtTheGoods() throws {
        let kiosk = try Kiosk(["150:held", "160:sold"])
        try kiosk.begin()
        #expect(try kiosk.heard() == "held")
        // The machine has said that it has heard; the bridge may still be writing that down.
        try kiosk.shop.eventually("a sale that the machine knows of") {
            try String(contentsOf: kiosk.shop.folder.appending(path: "drinks.ledger"), encoding: .utf8).contains("told")
        }
        kiosk.end(SIGKILL)
        #expect(try kiosk.books() == [Booking("approved", 150)], "not confirmed by anybody yet")
        try kiosk.begin()
        // Before the machine says a word.
        try kiosk.shop.eventually("a confirmation") {
            try kiosk.books() == [Booking("approved", 150, isConfirmed: true)]
        }
        try kiosk.goOn()
        #expect(try [kiosk.heard(), kiosk.heard()] == ["begun anew", "sold"])
        let wanted = [150, 160].map { Booking("approved", $0, isConfirmed: true) }
        try kiosk.shop.eventually("two sales") { try kiosk.books() == wanted }
    }

    @Test("A bridge that is killed while a card is waited for takes nothing when it is back, and the lane is free")
    func killedBeforeTheCard() throws {
        let kiosk = try Kiosk(["150:asked", "160:sold"])
        try kiosk.shop.card("remove")
        try kiosk.begin()
        #expect(try kiosk.heard() == "asked")
        try kiosk.shop.eventually("a card waited for") { try kiosk.books().first?.state == "armed" }
        kiosk.end(SIGKILL)
        try kiosk.begin()
        try kiosk.shop.eventually("a sale given up") { try kiosk.books() == [Booking("cancelled", 150)] }
        try kiosk.shop.card("present visa")
        try kiosk.goOn()
        #expect(try [kiosk.heard(), kiosk.heard()] == ["begun anew", "sold"])
        try kiosk.shop.eventually("one sale") {
            try kiosk.books() == [Booking("cancelled", 150), Booking("approved", 160, isConfirmed: true)]
        }
    }

    @Test("A line whose driver has no mark and space parity is refused, with what to do")
    func noNinthBit() throws {
        // A pseudo-terminal takes the settings, and leaves the parity out.
        let kiosk = try Kiosk(["150:sold"], escaped: false)
        let result = try Program.bridge.run(["--config", kiosk.configuration.path], in: kiosk.shop.folder)
        #expect(result.status == 1 && result.errors.contains("escaped = true"), "\(result.errors)")
        let checked = try Program.bridge.run(["--config", kiosk.configuration.path, "--check"], in: kiosk.shop.folder)
        #expect(checked.status == 0 && checked.errors.contains("1 till, nothing wrong"), "\(checked.errors)")
        #expect(checked.errors.contains("approval covers that"))
    }
}
