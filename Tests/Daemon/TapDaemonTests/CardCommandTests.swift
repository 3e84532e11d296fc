// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Configuration
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import TestSupport
import Testing
import Transactions

@testable import TapDaemon

@Suite("An administrator's commands to a card", .timeLimit(.minutes(5)))
struct CardCommandTests {
    /// Commands of the card `smoke`, with what it answers to them: data given back, 256 bytes, status words as they are.
    private static let exchanges = [
        ("E0010000080011223344556677", "00112233445566779000"),
        ("E0020100", (0..<256).map { Hex.string([UInt8($0)]) }.joined() + "9000"),
        ("E0036110", "6110"), ("E0036C08", "6C08"), ("e003 6a82".filter { $0 != " " }, "6A82"),
        ("E00A000000", "0000000590 00".filter { $0 != " " }),
    ]
    private static let target = "/v1/lanes/lane-0/card-commands"

    private static func wish(_ change: (inout Shop.Wish) -> Void = { _ in }) -> Shop.Wish {
        var wish = Shop.Wish()
        wish.allowsCardCommands = true
        change(&wish)
        return wish
    }

    private static func body(_ commands: [String], deadline: Int? = nil) -> String {
        let deadline = deadline.map { #","deadline":\#($0)"# } ?? ""
        return #"{"commands":[\#(commands.map { "\"\($0)\"" }.joined(separator: ","))]\#(deadline)}"#
    }

    private func send(_ shop: Shop, _ commands: [String], deadline: Int? = nil) async throws -> Answer {
        try await shop.post(to: Self.target, Self.body(commands, deadline: deadline))
    }

    private func answers(_ answer: Answer) throws -> CardCommandsAnswer {
        try WireJSON.decode(CardCommandsAnswer.self, from: answer.body)
    }

    /// The entries about commands, oldest first.
    private func entries(_ shop: Shop) throws -> [String] {
        try shop.journal("SELECT subject, detail FROM audit WHERE detail LIKE 'card-commands%' ORDER BY sequence")
            .split(separator: "\n").map(String.init)
    }

    private func entry(_ told: String) -> String { "lane-0|card-commands by uid \(geteuid()) as admin: \(told)" }

    /// Whether the reader's lamp shows that.
    private func shows(_ shop: Shop, _ feedback: String) throws -> Bool {
        try shop.reader.obey("state").hasSuffix("feedback=\(feedback)")
    }

    /// A sale on the lane is paid.
    private func sell(_ shop: Shop) async throws {
        try await shop.lanes(are: .ready)
        try shop.reader.obey("present visa")
        #expect(try await shop.post(purchase(700), wait: 20).transaction().state == .approved)
    }

    @Test("They are off, and the refusal says how they are switched on, in both languages")
    func off() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            try shop.reader.obey("present smoke")
            let error = try await send(shop, ["E0036A82"]).error()
            #expect(error.code == "card_commands.not_allowed" && error.who == .administrator)
            #expect(error.resolution.contains("card-commands = true under [diagnostics]"))
            var request = HTTPClientRequest(
                .post, Self.target, fields: ["Content-Type": "application/json", "Accept-Language": "de"],
                body: Array(Self.body(["E0036A82"]).utf8))
            #expect(try await shop.send(request).error().message.hasPrefix("Befehle an eine Karte"))
            request = HTTPClientRequest(.get, Self.target)
            #expect(try await shop.send(request).status == 405)
            #expect(try entries(shop).isEmpty)
        }
    }

    @Test("A daemon in live mode sends none, whatever its configuration came to say")
    func live() async throws {
        let wish = Self.wish {
            $0.mode = .live
            $0.awaitsLanes = false
        }
        try await Shop.open(in: try TestFolder(), wish) { shop in
            try shop.reader.obey("present smoke")
            #expect(try await send(shop, ["E0036A82"]).error().code == "card_commands.not_allowed")
        }
    }

    @Test("A daemon in live mode that will be in test mode after its next start allows none until then")
    func beforeRestart() throws {
        var live = try DaemonConfiguration(in: try TestFolder())
        live.mode = .live
        var test = live
        test.mode = .test
        test.diagnostics.cardCommands = true
        let settings = CurrentSettings(live)
        #expect(settings.replace(with: test) == ["mode"])
        #expect(settings.snapshot.mode == .live && !settings.snapshot.diagnostics.cardCommands)
    }

    @Test(
        "A cashier, a monitor and a stranger are refused before anything else is looked at",
        .enabled(if: geteuid() == 0, "needs root, to become another user"))
    func others() async throws {
        let folder = try TestFolder()
        let wish = Self.wish { $0.access = Access(groups: [.admin: 10, .cashier: 20, .monitor: 40], owner: 500) }
        try await Shop.open(in: folder, wish) { shop in
            try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder.path + "/pos.sock")
            try shop.reader.obey("present smoke")
            let arguments = [
                "-H", "Content-Type: application/json", "-d", Self.body(["E0036A82"]), "http://d" + Self.target,
            ]
            for (groups, code) in [
                ("20", "auth.admin_required"), ("40", "auth.admin_required"), ("", "auth.role_missing"),
            ] {
                let answer = try await curl(folder, groups: groups, arguments)
                #expect(answer.status == "403" && answer.body.contains("\"\(code)\""), "\(groups): \(answer.body)")
            }
            #expect(try entries(shop).isEmpty)
            let answer = try await curl(folder, groups: "10", arguments)
            #expect(answer.status == "200" && answer.body.contains(#""answers":["6A82"]"#), "\(answer.body)")
            #expect(try entries(shop).first?.contains("by uid 65534 as admin") == true)
        }
    }

    @Test("Answers come back byte for byte and in order, and the lane takes a sale afterwards")
    func answered() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            async let asked = send(shop, Self.exchanges.map(\.0))
            try await eventually("the reader shows that it waits") { try shows(shop, "ready") }
            try shop.reader.obey("present smoke")
            let answer = try await asked
            #expect(try shows(shop, "idle"))
            #expect(answer.status == 200 && answer.fields.only("Cache-Control") == "no-store")
            let told = try answers(answer)
            #expect(told.answers == Self.exchanges.map(\.1))
            #expect(told.lane == "lane-0" && told.error == nil)
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
            try shop.reader.obey("remove")
            try await sell(shop)
        }
    }

    @Test("Who, when, which lane and the headers are in the audit chain: no data, no answer, and nothing in the log")
    func audited() async throws {
        let (folder, log) = (try TestFolder(), KeptLog())
        try await Shop.open(in: folder, Self.wish { $0.logger = log.logger }) { shop in
            try shop.reader.obey("present smoke")
            let account = "4761739001010010"
            let told = try answers(await send(shop, ["E001000008\(account)", "00B2010C00"]))
            // What the second one reads is the account, too.
            #expect(told.answers.count == 2 && told.answers.allSatisfy { $0.contains(account) })
            #expect(
                try entries(shop) == [
                    entry("2 to be sent: E0010000 00B2010C"), entry("2 answered"),
                ])
            #expect(try sqlite(folder.path + "/state/journal.sqlite", ".dump").contains("E0010000 00B2010C"))
            for text in ["4761739001010010", "E001000008", "70105A08"] {
                #expect(!(try sqlite(folder.path + "/state/journal.sqlite", ".dump")).contains(text))
                for line in log.all {
                    #expect(!line.message.contains(text) && !line.metadata.values.contains { $0.contains(text) })
                }
            }
            #expect(!log.all.isEmpty)
        }
    }

    @Test("A lane that waits for a payment is refused with its transaction, and one with commands refuses a sale")
    func busy() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], id)
            let refused = try await send(shop, ["E0036A82"]).error()
            #expect(refused.code == "reader.busy" && refused.transaction == id)
            _ = try await shop.delete("/v1/transactions/\(id)")
            try await shop.lanes(are: .ready)
            async let waiting = send(shop, ["E0036A82"])
            try await shop.lanes(are: .busy)
            #expect(await shop.runner.laneStatuses().first?.holder == nil)
            let sale = try await shop.post(purchase(700)).error()
            #expect(sale.code == "reader.busy" && sale.transaction == nil)
            #expect(try await send(shop, ["E0036A82"]).error().code == "reader.busy")
            try shop.reader.obey("present smoke")
            #expect(try answers(await waiting).answers == ["6A82"])
            try shop.reader.obey("remove")
            try await sell(shop)
        }
    }

    @Test("A card that leaves amid: what it has answered comes back with what stopped it, and the lane is free")
    func cardLeaves() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            try shop.reader.obey("present smoke")
            let answer = try await send(shop, ["E0036A82", "E0050000", "E0036A83"])
            let told = try answers(answer)
            #expect(answer.status == 200 && told.answers == ["6A82"])
            #expect(told.error?.code == "read.card_unreadable")
            #expect(try entries(shop).last == entry("1 answered, then read.card_unreadable"))
            try await sell(shop)
        }
    }

    @Test("Without a card nothing is sent: the time is over, or two cards are there all the time")
    func noCard() async throws {
        try await Shop.open(in: try TestFolder(), Self.wish()) { shop in
            #expect(try await send(shop, ["E0036A82"], deadline: 1).error().code == "read.timed_out")
            #expect(try shows(shop, "idle"))
            try shop.reader.obey("present smoke")
            try shop.reader.obey("collide")
            #expect(try await send(shop, ["E0036A82"], deadline: 1).error().code == "read.timed_out")
            #expect(try entries(shop).filter { $0.hasSuffix("0 answered, then read.timed_out") }.count == 2)
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
        }
    }

    @Test("A card that does not answer a command within five seconds is given up, and the lane is free")
    func slowCard() async throws {
        try await Shop.open(in: try TestFolder(), Self.wish()) { shop in
            try shop.reader.obey("present smoke")
            try shop.reader.obey("delay 15000")
            let told = try answers(await send(shop, ["E0036A82", "E0036A83"]))
            #expect(told.answers.isEmpty && told.error?.code == "read.card_unreadable")
            #expect(try entries(shop).last == entry("0 answered, then read.card_unreadable"))
            try await shop.lanes(are: .ready)
        }
    }

    @Test("A reader that is pulled amid ends them, and its lane is ready when it is back")
    func readerLeaves() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            async let waiting = send(shop, ["E0036A82"])
            try await shop.lanes(are: .busy)
            try shop.reader.obey("detach")
            #expect(try await waiting.error().code == "reader.detached")
            #expect(await shop.runner.laneStatuses().first?.state == .detached)
            try shop.reader.obey("attach")
            try await sell(shop)
        }
    }

    @Test("A client that goes while they wait for a card leaves the lane free, and the chain says that they ended")
    func clientGoes() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            let connection = try await shop.client.connect()
            let request = HTTPClientRequest(
                .post, Self.target, fields: ["Content-Type": "application/json"],
                body: Array(Self.body(["E0036A82"], deadline: 60).utf8))
            let waiting = Task { try? await connection.send(request, answerWithin: hangLimit) }
            try await shop.lanes(are: .busy)
            await connection.close()
            try await shop.lanes(are: .ready)
            _ = await waiting.value
            try await eventually("the end in the audit chain") {
                try entries(shop).last == entry("0 answered, then interrupted")
            }
            try await sell(shop)
        }
    }

    @Test("A client that goes amid them has no further one sent, and the chain says how many were answered")
    func clientGoesAmid() async throws {
        try await Shop.open(in: try TestFolder(), Self.wish()) { shop in
            try shop.reader.obey("present smoke")
            try shop.reader.obey("delay 500")
            let connection = try await shop.client.connect()
            let commands = [String](repeating: "E0036A82", count: 32)
            let request = HTTPClientRequest(
                .post, Self.target, fields: ["Content-Type": "application/json"], body: Array(Self.body(commands).utf8))
            let waiting = Task { try? await connection.send(request, answerWithin: hangLimit) }
            try await eventually("an answer") {
                await shop.runner.books.conversations["lane-0"]?.outcome.answers.isEmpty == false
            }
            await connection.close()
            _ = await waiting.value
            try await shop.lanes(are: .ready)
            try await eventually("the end in the audit chain") {
                try entries(shop).last?.hasSuffix(" answered, then interrupted") == true
            }
        }
    }

    @Test("What cannot be written down first is not sent, and the lane is free")
    func unwritten() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            try shop.reader.obey("present smoke")
            try alterJournal(
                in: shop.folder, "CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no room'); END")
            #expect(try await send(shop, ["E0036A82"]).error().code == "storage.failed")
            #expect(await shop.runner.books.conversations.isEmpty)
            try alterJournal(in: shop.folder, "DROP TRIGGER full")
            #expect(try entries(shop).isEmpty)
            #expect(try answers(await send(shop, ["E0036A82"])).answers == ["6A82"])
            try shop.reader.obey("remove")
            try await sell(shop)
        }
    }

    @Test("The card that they were sent to pays for nothing before it has left, or was left there on purpose")
    func cardStays() async throws {
        try await Shop.withSandbox(Self.wish()) { shop, _ in
            try shop.reader.obey("present visa")
            let told = try answers(await send(shop, ["00A4040000"]))
            #expect(told.answers.count == 1 && told.error == nil)
            let began = ContinuousClock.now
            #expect(try await shop.post(purchase(700), wait: 20).transaction().state == .approved)
            #expect(began.duration(to: .now) >= .milliseconds(1_900))
        }
    }

    @Test("A daemon that stops takes no new ones")
    func stopping() async throws {
        try await Shop.open(in: try TestFolder(), Self.wish()) { shop in
            try shop.reader.obey("present smoke")
            await shop.runner.change { $0.isStopping = true }
            #expect(try await send(shop, ["E0036A82"]).error().code == "daemon.unavailable")
            #expect(try entries(shop).isEmpty)
            await shop.runner.change { $0.isStopping = false }
            #expect(try answers(await send(shop, ["E0036A82"])).answers == ["6A82"])
        }
    }

    @Test("A daemon that is asked to stop does not wait for their card")
    func stop() async throws {
        let folder = try TestFolder()
        try await Shop.open(in: folder, Self.wish()) { shop in
            let connection = try await shop.client.connect()
            let request = HTTPClientRequest(
                .post, Self.target, fields: ["Content-Type": "application/json"],
                body: Array(Self.body(["E0036A82"], deadline: 60).utf8))
            Task { try? await connection.send(request, answerWithin: hangLimit) }
            try await shop.lanes(are: .busy)
            shop.daemon.shutDown(grace: hangLimit)
            try await eventually("a free lane") { await shop.runner.books.conversations.isEmpty }
        }
        let last = try sqlite(
            folder.path + "/state/journal.sqlite",
            "SELECT detail FROM audit WHERE detail LIKE 'card-commands%' ORDER BY sequence DESC LIMIT 1")
        #expect(last.hasSuffix("0 answered, then interrupted"), "not read.timed_out, a minute later: \(last)")
    }

    @Test("What is no command, too many of them, an unknown lane and another member are refused by name")
    func refused() async throws {
        try await Shop.open(in: try TestFolder(), Self.wish()) { shop in
            let many = [String](repeating: "E0036A82", count: 33)
            let long = "E0010000FF" + String(repeating: "00", count: 257)
            for commands in [[], many, ["E0036A"], ["E0036A8"], ["E0036A8G"], ["E003 6A82"], [long]] {
                let error = try await send(shop, commands).error()
                #expect(error.code == "request.invalid_field" && error.field == "commands", "\(commands)")
            }
            // Lc says more data than there is.
            let error = try await send(shop, ["E0036A82", "00A4040010AABB"]).error()
            #expect(error.code == "request.invalid_field" && error.field == "commands[1]")
            for deadline in [0, 61] {
                #expect(try await send(shop, ["E0036A82"], deadline: deadline).error().field == "deadline")
            }
            let more = try await shop.post(to: Self.target, #"{"commands":["E0036A82"],"card":"any"}"#).error()
            #expect(more.code == "request.unknown_field" && more.field == "card")
            let nowhere = try await shop.post(to: "/v1/lanes/nowhere/card-commands", Self.body(["E0036A82"])).error()
            #expect(nowhere.code == "lane.unknown")
            #expect(try entries(shop).isEmpty)
            #expect(await shop.runner.laneStatuses().first?.state == .ready)
        }
    }
}
