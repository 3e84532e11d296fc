// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import Glibc
import LocalHTTP
import POSAPI
import PSPAPI
import PSPSandbox
import PaymentValues
import ReaderVirtual
import Settings
import Testing
import Transactions

@testable import TapDaemon

@Suite("Reading the configuration again", .timeLimit(.minutes(5)))
struct ReloadTests {
    private func lane(_ name: String) throws -> DaemonConfiguration.LaneSetting {
        .init(name: name, reader: .virtual(try VirtualReaderControl(name: name) { _ in nil }), address: nil)
    }

    @Test("What can change does so at once, and what runs keeps what it began with")
    func applied() async throws {
        try await Shop.withSandbox { shop, _ in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], id)
            let error = await shop.daemon.reload { before in
                var new = before
                new.adapter.socket = shop.folder.path + "/elsewhere.sock"
                new.terminal.id = "87654321"
                new.access = Access(groups: [:], owner: .max)
                new.laneGroups = ["all": ["lane-0"]]
                new.lanes = before.lanes.map {
                    .init(name: $0.name, reader: $0.reader, address: .virtual("/same"))
                }
                return new
            }
            #expect(error == nil)
            #expect(shop.daemon.settings.snapshot.terminal.id == "87654321")
            #expect(await shop.runner.books.lanes.table.groups["all"] == ["lane-0"])
            #expect(shop.daemon.settings.snapshot.access.owner == .max)
            // It was armed with the adapter that there was.
            try shop.reader.obey("present visa")
            #expect(try await shop.reach([.approved, .failed], id).state == .approved)
        }
    }

    @Test("A wrong configuration changes nothing, and status says why it was not taken")
    func refused() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let wrong = ConfigurationError("psp.socket", "is no absolute path", remedy: "begin it with /")
            let before = shop.daemon.settings.snapshot.adapter.client.path
            #expect(await shop.daemon.reload { (_) throws(ConfigurationError) in throw wrong } == wrong)
            #expect(shop.daemon.settings.snapshot.adapter.client.path == before)
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.configuration?.error == wrong.description)
            #expect(await shop.daemon.summary().hasSuffix("newer configuration refused"))
            #expect(await shop.daemon.reload { $0 } == nil)
            #expect(shop.daemon.settings.status.error == nil)
        }
    }

    @Test("New lanes are prepared, free ones that are gone are closed, and one in use goes once it is free")
    func lanes() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
            _ = try await shop.reach([.armed], id)
            let bar = try lane("bar")
            let error = await shop.daemon.reload { before in
                var new = before
                new.lanes = [bar]
                return new
            }
            #expect(error == nil)
            #expect(await shop.runner.laneStatuses().map(\.name) == ["bar", "lane-0"])
            #expect(try await shop.post(purchase(1, more: #","lane":"lane-0""#)).error().code == "reader.busy")
            #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
            #expect(await shop.runner.laneStatuses().map(\.name) == ["bar"])
            #expect(try await shop.post(purchase(1, more: #","lane":"lane-0""#)).error().code == "lane.unknown")
            try await shop.lanes(are: .ready)
        }
    }

    @Test("What counts from the next start only is named")
    func restart() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            _ = await shop.daemon.reload { before in
                var new = before
                new.journal.directory = "/elsewhere"
                new.profile = ProfileSettings()
                return new
            }
            #expect(shop.daemon.settings.status.needsRestart == ["profile.key", "journal.directory"])
        }
    }

    @Test(
        "A changed mode counts from the next start: service manager, status and events name the one in force till then")
    func mode() async throws {
        try await Shop.withSandbox { shop, _ in
            let stream = try await shop.client.events(
                HTTPClientRequest(.get, "/v1/events"), answerWithin: .seconds(5))
            for _ in 0..<2 {
                _ = await shop.daemon.reload { before in
                    var new = before
                    new.mode = .live
                    new.support.text = "elsewhere"
                    new.profile = ProfileSettings()
                    new.terminal.id = "87654321"
                    return new
                }
                // Also after a second reload, of the same: it was not restarted.
                #expect(shop.daemon.settings.status.needsRestart == ["mode", "profile.key", "support"])
            }
            #expect(await shop.daemon.summary().hasPrefix("test mode, "))
            let status = try WireJSON.decode(Status.self, from: try await shop.get("/v1/status").body)
            #expect(status.mode == .test && status.blocked == nil && status.terms == .notRequired)
            try await shop.lanes(are: .ready)
            try shop.reader.obey("present visa")
            let paid = try await shop.post(purchase(700), wait: 20).transaction()
            #expect(paid.state == .approved && paid.mode == .test && paid.details?.terminal == "87654321")
            for try await sent in stream {
                let event = try WireJSON.decode(Event.self, from: Array(sent.data.utf8))
                #expect(event.mode == .test)
                if event.transaction == paid.id, event.name == .paymentApproved { break }
            }
            _ = await shop.daemon.reload { before in
                var new = before
                (new.mode, new.profile) = (.test, nil)
                new.support.text = nil
                return new
            }
            #expect(shop.daemon.settings.status.needsRestart == nil)
        }
    }

    @Test("A snapshot stays as it was, whatever comes into force after it")
    func snapshot() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let before = shop.daemon.settings.snapshot
            let (path, boot) = (before.adapter.client.path, before.surroundings.boot)
            _ = await shop.daemon.reload { before in
                var new = before
                new.adapter.socket = "/elsewhere.sock"
                new.adapter.times.answer = .seconds(7)
                new.surroundings.boot = "another"
                return new
            }
            let after = shop.daemon.settings.snapshot
            #expect(before.adapter.client.path == path && after.adapter.client.path == "/elsewhere.sock")
            #expect(before.adapter.times.answer != .seconds(7) && after.adapter.times.answer == .seconds(7))
            #expect(after.surroundings.boot == boot)
        }
    }

    @Test("Live mode in force takes no virtual reader from a file that goes back to test mode")
    func virtualReader() async throws {
        var wish = Shop.Wish()
        (wish.mode, wish.awaitsLanes) = (.live, false)
        let bar = try lane("bar")
        try await Shop.open(in: try TestFolder(), wish) { shop in
            let error = await shop.daemon.reload { before in
                var new = before
                new.mode = .test
                new.lanes = [bar]
                return new
            }
            #expect(error?.key == "lane bar")
            #expect(await shop.runner.laneStatuses().map(\.name) == ["lane-0"])
        }
    }

    @Test("The line for the service manager says mode, lanes, adapter and reversals")
    func summary() async throws {
        var wish = Shop.Wish()
        wish.lanes = 2
        try await Shop.open(in: try TestFolder(), wish) { shop in
            let summary = await shop.daemon.summary()
            #expect(summary.hasPrefix("test mode, 2 of 2 lanes ready, adapter "))
            #expect(summary.hasSuffix("0 reversals open"))
            await shop.daemon.pulse()
        }
    }

    @Test("The same reader at the same address is kept, another one is made anew")
    func kept() throws {
        let folder = try TestFolder()
        func configuration(
            _ lanes: [ConfigurationFile.Lane], keeping before: DaemonConfiguration?
        ) throws -> DaemonConfiguration {
            var file = try ConfigurationFile(
                file: "f", text: "[[lane]]\nname = \"a\"\nreader = \"pcsc:\"\n")
            file.lanes = lanes
            return try DaemonConfiguration(file, keeping: before)
        }
        let first = try configuration(
            [.init(name: "a", reader: .virtual(folder.path + "/a")), .init(name: "b", reader: .pcsc("x"))], keeping: nil
        )
        // The socket is bound: made once more it would be refused.
        let second = try configuration(
            [.init(name: "a", reader: .virtual(folder.path + "/a")), .init(name: "b", reader: .pcsc("y"))],
            keeping: first)
        #expect(first.lanes[0].control != nil && first.lanes[0].control === second.lanes[0].control)
        #expect(first.lanes[0].isSame(as: second.lanes[0]) && !first.lanes[1].isSame(as: second.lanes[1]))
    }
}
