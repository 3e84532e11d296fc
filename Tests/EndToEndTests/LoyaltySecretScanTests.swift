// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import Rigs
import Testing

@testable import CardSim

/// What the daemon still knows of the passes that it has read. Phones are in this process, behind a pcscd that it plays;
/// keys and member numbers are new in each run, so that no constant of a program can be taken for one.
@Suite(.serialized)
struct LoyaltySecretScanTests {
    private static let reader = "ACS ACR122U PICC Interface 00 00"

    /// A shop's programme, and phones with its passes.
    private final class Club {
        let folder: URL
        let appleKey = Club.key()
        let googleKey = Club.key()
        let passType = "pass.example.scan.\(UUID().uuidString)"
        let collector: UInt32 = 20_260_101
        /// Longer than what a Swift string keeps in itself.
        let appleMember = "APPLE-\(UUID().uuidString)"
        let googleMember = "GOOGLE-\(UUID().uuidString)"
        let pin = "PIN-\(UUID().uuidString)"

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "k\(UUID().uuidString.prefix(8))")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try write(appleKey, "apple.key")
            try write(googleKey, "google.key")
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private func write(_ key: [UInt8], _ name: String) throws {
            let file = folder.appending(path: name)
            let pem = try P256.KeyAgreement.PrivateKey(rawRepresentation: key).pemRepresentation
            try Data(pem.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }

        private static func key() -> [UInt8] { Array(P256.KeyAgreement.PrivateKey().rawRepresentation) }

        var configuration: String {
            """
            mode = "test"
            [[loyalty.programme]]
            id = "club"
            [loyalty.programme.apple]
            pass-type = "\(passType)"
            [[loyalty.programme.apple.key]]
            file = "\(folder.path)/apple.key"
            [loyalty.programme.google]
            collector = \(collector)
            [[loyalty.programme.google.key]]
            version = 7
            file = "\(folder.path)/google.key"
            [[lane]]
            name = "till-1"
            reader = "pcsc:\(LoyaltySecretScanTests.reader)"
            """
        }

        func applePhone(payment: (any VirtualCard)? = nil) -> any VirtualCard {
            VASPhone(
                passes: [.init(passTypeIdentifier: passType, message: appleMember, merchantPrivateKey: appleKey)],
                payment: payment)
        }

        func googlePhone() -> any VirtualCard {
            SmartTapPhone(
                passes: [
                    SmartTapPass(
                        objectID: (0..<8).map { _ in UInt8.random(in: 0...255) }, number: googleMember, pin: pin)
                ], collectorID: collector, collectorPrivateKeys: [7: googleKey])
        }

        /// Keys as they are and as the limbs of a big integer, contents as text and as hexadecimal.
        var keys: [Data] { [appleKey, googleKey].flatMap { [Data($0), Data($0.reversed())] } }
        var contents: [Data] { [appleMember, googleMember, pin].map { Data($0.utf8) } }
    }

    @Test("Requirement 40: after taps for passes the daemon holds keys and passes in wiped memory only")
    func scanned() throws {
        let rig = FakePCSCD(path: NSTemporaryDirectory() + "/pass-\(UUID().uuidString.prefix(8)).comm")
        try rig.start()
        defer { rig.die() }
        try rig.plug(Self.reader)
        let club = try Club()
        let shop = try Shop(
            environment: ["PCSCLITE_CSOCK_NAME": rig.path], configuration: club.configuration)
        try shop.awaitReader()
        var shown = ""
        for _ in 0..<5 {
            shown += try tap(club.applePhone(), #"{"type":"loyalty"}"#, rig, shop)
            shown += try tap(club.googlePhone(), #"{"type":"loyalty"}"#, rig, shop)
            shown += try tap(
                club.applePhone(payment: CardCatalogue.card(named: "visa")),
                #"{"type":"purchase","amount":{"value":1000,"currency":"EUR"},"loyalty":{}}"#, rig, shop)
        }
        // Whoever asks gets them: without that nothing here would prove anything.
        for member in [club.appleMember, club.googleMember, club.pin] {
            #expect(shown.ranges(of: member).count >= 5)
        }
        let events = try shop.curl([
            "http://localhost/v1/events", "--max-time", "1", "-H", "Last-Event-ID: 0",
        ])
        #expect(events.contains("loyalty.result"))
        let memory = try ProcessMemory(of: try #require(shop.daemonProcess))
        defer { memory.close() }
        for place in try memory.places(of: club.contents) { #expect(place.other == 0, "a pass in plain memory") }
        let keys = try memory.places(of: club.keys)
        for place in keys { #expect(place.other == 0, "a merchant's key in plain memory") }
        #expect(keys.map(\.secret).reduce(0, +) >= 2, "the scan sees the keys where they may be")
        try searchFiles(of: shop, for: club)
    }

    /// Logs, journal, what the daemon was sent and what it said to monitors.
    private func searchFiles(of shop: Shop, for club: Club) throws {
        let files = try #require(FileManager.default.enumerator(at: shop.folder, includingPropertiesForKeys: nil))
        var searched = 0
        for case let file as URL in files where file.lastPathComponent != "curl.log" {
            guard let data = try? Data(contentsOf: file) else { continue }
            searched += 1
            for secret in club.contents + club.keys {
                #expect(data.range(of: secret) == nil, "in \(file.lastPathComponent)")
            }
        }
        #expect(searched >= 4)
    }

    private func tap(_ phone: any VirtualCard, _ body: String, _ rig: FakePCSCD, _ shop: Shop) throws -> String {
        try rig.insert(phone, into: Self.reader)
        defer { try? rig.remove(from: Self.reader) }
        return try shop.curl([
            "http://localhost/v1/transactions", "-H", "Content-Type: application/json", "-H",
            "Idempotency-Key: \(UUID().uuidString)", "-H", "Prefer: wait=30", "-d", body,
        ])
    }
}
