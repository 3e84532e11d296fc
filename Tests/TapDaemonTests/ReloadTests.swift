import Foundation
import Glibc
import LocalHTTP
import PSPSandbox
import ReaderVirtual
import Settings
import Testing
import Transactions
import Wire

@testable import TapDaemon

@Suite("Reading the configuration again", .timeLimit(.minutes(2)))
struct ReloadTests {
    private func lane(_ name: String) throws -> DaemonConfiguration.LaneSetting {
        .init(name: name, reader: .virtual(try VirtualReaderControl(name: name) { _ in nil }), address: nil)
    }

    @Test("What can change does so at once, and what runs keeps what it began with")
    func applied() async throws {
        let folder = try TestFolder()
        try await withSandbox(in: folder) { _ in
            try await Shop.open(in: folder) { shop in
                let id = try await shop.post(purchase(700, more: #","detached":true"#)).transaction().id
                _ = try await shop.reach([.armed], id)
                let error = await shop.daemon.reload { before in
                    var new = before
                    new.adapterSocket = folder.path + "/elsewhere.sock"
                    new.terminal.id = "87654321"
                    new.access = Access(groups: [:], owner: .max)
                    new.groups = ["all": ["lane-0"]]
                    new.lanes = before.lanes.map {
                        .init(name: $0.name, reader: $0.reader, address: .virtual("/same"))
                    }
                    return new
                }
                #expect(error == nil)
                #expect(await shop.daemon.settings.terminal.id == "87654321")
                #expect(await shop.store.lanes.groups["all"] == ["lane-0"])
                #expect(shop.daemon.settings.access.owner == .max)
                // It was armed with the adapter that there was.
                try shop.reader.obey("present visa")
                #expect(try await shop.reach([.approved, .failed], id).state == .approved)
            }
        }
    }

    @Test("A wrong configuration changes nothing, and status says why it was not taken")
    func refused() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            let wrong = ConfigurationError("psp.socket", "is no absolute path", remedy: "begin it with /")
            let before = shop.daemon.settings.configuration
            #expect(await shop.daemon.reload { (_) throws(ConfigurationError) in throw wrong } == wrong)
            #expect(shop.daemon.settings.configuration.adapterSocket == before.adapterSocket)
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
            #expect(await shop.store.laneStatuses().map(\.name) == ["bar", "lane-0"])
            #expect(try await shop.post(purchase(1, more: #","lane":"lane-0""#)).error().code == "reader.busy")
            #expect(try await shop.delete("/v1/transactions/\(id)").cancel().outcome == .cancelled)
            #expect(await shop.store.laneStatuses().map(\.name) == ["bar"])
            #expect(try await shop.post(purchase(1, more: #","lane":"lane-0""#)).error().code == "lane.unknown")
            try await shop.lanes(are: .ready)
        }
    }

    @Test("What counts from the next start only is named")
    func restart() async throws {
        try await Shop.open(in: try TestFolder()) { shop in
            _ = await shop.daemon.reload { before in
                var new = before
                new.stateDirectory = "/elsewhere"
                new.profile = ProfileSettings()
                return new
            }
            #expect(shop.daemon.settings.status.needsRestart == ["profile.key", "journal.directory"])
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
            return try DaemonConfiguration(file, stateDirectory: "/s", adapterSocket: "/a", keeping: before)
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
