// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import Testing

/// What happens to readers behind pcscd, played by a pcscd of our own under the real daemon and the real libpcsclite.
@Suite("Recovery: a reader behind pcscd", .serialized, .timeLimit(.minutes(10)))
struct PCSCRecoveryTests {
    static let name = "ACS ACR122U PICC Interface 00 00"
    /// After a replug the index has changed.
    static let newName = "ACS ACR122U PICC Interface 01 00"

    @Test("Acceptance test 11: a reader is unplugged and plugged in again", arguments: FailingReader.Moment.allCases)
    func unplugged(moment: FailingReader.Moment) throws {
        let rig = try FakeRig()
        try rig.reader.survives(.init(name: "reader unplugged", moment: moment)) {
            try rig.unplug()
        } repair: {
            try rig.plug(Self.newName)
        }
    }

    @Test("Acceptance test 11: pcscd ends and starts again", arguments: FailingReader.Moment.allCases)
    func restarted(moment: FailingReader.Moment) throws {
        let rig = try FakeRig()
        try rig.reader.survives(.init(name: "pcscd ended", moment: moment)) {
            rig.pcscd.die()
        } repair: {
            try rig.pcscd.start()
        }
    }

    @Test(
        "Another program has the card: the lane says so, and works once it is free",
        arguments: [FailingReader.Moment.armed])
    func inUse(moment: FailingReader.Moment) throws {
        let rig = try FakeRig()
        let fault = FailingReader.Fault(
            name: "card held by another program", moment: moment, event: "reader.notReady", states: ["faulty"])
        try rig.reader.survives(fault) {
            try rig.pcscd.occupy(rig.name, true)
            try rig.pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: rig.name)
        } repair: {
            try rig.pcscd.occupy(rig.name, false)
        }
    }

    @Test("Another program resets the card in the middle: it is read anew and charged once")
    func reset() throws {
        let rig = try FakeRig()
        let fault = FailingReader.Fault(
            name: "card reset by another program", moment: .reading, event: nil,
            states: ["ready", "busy"], outcome: ["approved"])
        try rig.reader.survives(fault) {
            rig.pcscd.mark(rig.name, with: PCSCCode.resetCard)
        }
    }

    static let nonsense: [[UInt8]] = [
        [], [0x90], [0x6F, 0xFF, 0xFF, 0xFF, 0x90, 0x00], Array(repeating: 0xA5, count: 64),
    ]

    @Test("Firmware that answers nonsense costs another look at the card, not the lane", arguments: nonsense)
    func garbage(answer: [UInt8]) throws {
        let rig = try FakeRig()
        let fault = FailingReader.Fault(
            name: "\(answer.count) bytes of nonsense", moment: .armed, event: nil, outcome: ["approved", "failed"])
        try rig.reader.survives(fault) {
            // The first is the answer to GET DATA for the UID, the next to the SELECT of the PPSE.
            for _ in 0..<3 { rig.pcscd.force(.answer(answer), on: .transmit, reader: rig.name) }
            try rig.pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: rig.name)
        }
    }

    @Test(
        "A driver that reports an error is told of, and its reader taken up again",
        arguments: FailingReader.Moment.allCases)
    func driverError(moment: FailingReader.Moment) throws {
        let rig = try FakeRig()
        let fault = FailingReader.Fault(
            name: "driver error", moment: moment, event: "reader.notReady",
            states: ["faulty", "detached"])
        try rig.reader.survives(fault) {
            try rig.pcscd.setError(true, of: rig.name)
        } repair: {
            try rig.pcscd.setError(false, of: rig.name)
        }
    }

    @Test("A card that lay on the reader before the request is not charged until it has been presented anew")
    func cardLeft() throws {
        let rig = try FakeRig(card: "visa")
        let told = rig.reader.events.count("read.removeCard")
        let id = try rig.reader.start()
        try rig.reader.events.awaits("read.removeCard", beyond: told)
        #expect(try rig.reader.transaction(id)["state"] as? String == "armed")
        #expect(try rig.shop.ledgerEntries().isEmpty)
        try rig.pcscd.remove(from: rig.name)
        try rig.reader.events.awaits("read.readyForTap")
        #expect(try rig.shop.ledgerEntries().isEmpty)
        try rig.pcscd.insert(try #require(CardCatalogue.card(named: "visa")), into: rig.name)
        #expect(try rig.reader.settled(id)["state"] as? String == "approved")
        // It still lies there: the next customer's request must not be paid with it.
        let next = try rig.reader.start()
        try rig.reader.events.awaits("read.removeCard", beyond: told + 2)
        try rig.pcscd.swap(try #require(CardCatalogue.card(named: "mastercard")), in: rig.name)
        let card = try rig.reader.settled(next)["card"] as? [String: Any]
        #expect(card?["last4"] as? String == "1034")
    }

    /// What a laptop's sleep looks like from here: the daemon stands still, its clock has gone on by an hour, pcscd goes
    /// and comes, the bus is numbered anew. No machine was suspended for it.
    @Test(
        "After a sleep in which everything was plugged anew, the lane works",
        arguments: [FailingReader.Moment.idle, .armed])
    func slept(moment: FailingReader.Moment) throws {
        let clock = try MovedClock()
        let rig = try FakeRig(environment: clock.environment)
        let process = try #require(rig.shop.daemonProcess)
        try rig.reader.survives(.init(name: "machine slept, all plugged anew", moment: moment)) {
            kill(process, SIGSTOP)
            rig.pcscd.die()
            try rig.unplug()
            try rig.pcscd.start()
            try clock.sleeps(seconds: 3_600)
            kill(process, SIGCONT)
        } repair: {
            try rig.plug(Self.newName)
        }
        #expect(try rig.log.contains("machine was suspended"))
    }

    @Test("After a sleep that left everything in its place, every lane is prepared again before a card pays")
    func sleptQuietly() throws {
        let clock = try MovedClock()
        let rig = try FakeRig(environment: clock.environment)
        try rig.reader.survives(.init(name: "machine slept", moment: .idle, event: "prepare.progress")) {
            try clock.sleeps(seconds: 3_600)
        }
        #expect(try rig.log.contains("machine was suspended"))
        // In the middle of a payment: what the service has is paid once, however late its answer is read.
        let fault = FailingReader.Fault(name: "machine slept", moment: .sent, event: "prepare.progress")
        try rig.reader.survives(fault) { try clock.sleeps(seconds: 7_200) }
    }
}

/// The played pcscd with one reader, and a shop on it.
final class FakeRig {
    let pcscd: FakePCSCD
    let shop: Shop
    let reader: FailingReader
    private let place: Place

    /// What the reader is called now.
    private final class Place {
        var name = PCSCRecoveryTests.name
    }

    var name: String { place.name }

    /// - Parameters:
    ///   - card: what lies on the reader before the daemon starts.
    ///   - environment: the daemon's, besides the way to the played pcscd.
    init(card: String? = nil, environment: [String: String] = [:]) throws {
        let pcscd = FakePCSCD(path: NSTemporaryDirectory() + "/pcscd-\(UUID().uuidString.prefix(8)).comm")
        try pcscd.start()
        let place = Place()
        try pcscd.plug(place.name)
        if let card { try pcscd.insert(try #require(CardCatalogue.card(named: card)), into: place.name) }
        shop = try Shop(
            reader: "pcsc:ACR122U", environment: environment.merging(["PCSCLITE_CSOCK_NAME": pcscd.path]) { $1 },
            sandboxArguments: FailingReader.slowSandbox)
        reader = try FailingReader(shop) { card in
            try pcscd.insert(card, into: place.name)
        } remove: {
            try pcscd.remove(from: place.name)
        }
        self.pcscd = pcscd
        self.place = place
    }

    deinit { pcscd.die() }

    /// What the daemon has said.
    var log: String {
        get throws { try String(contentsOf: shop.folder.appending(path: "nfc-tapd.err"), encoding: .utf8) }
    }

    func unplug() throws { try pcscd.unplug(place.name) }

    func plug(_ name: String) throws {
        place.name = name
        try pcscd.plug(name)
    }
}
