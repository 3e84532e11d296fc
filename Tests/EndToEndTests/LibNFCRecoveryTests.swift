// SPDX-License-Identifier: Apache-2.0
import CardSim
import Foundation
import Rigs
import TestSupport
import Testing

/// What happens to a PN532 behind libnfc, under the real daemon, the real worker and the real libnfc.
@Suite("Recovery: a reader behind libnfc", .serialized, .timeLimit(.minutes(10)))
struct LibNFCRecoveryTests {
    @Test("Acceptance test 11: the device is unplugged and plugged in again")
    func unplugged() throws {
        let rig = try PN532Rig()
        for moment in FailingReader.Moment.allCases {
            // The worker is gone with its device; what cannot be opened again is a reader that is not there.
            try rig.reader.survives(.init(name: "PN532 unplugged", moment: moment)) {
                rig.emulator.unplug()
            } repair: {
                try rig.plug()
            }
        }
    }

    @Test("A worker that is killed is told of and started again")
    func killed() throws {
        let rig = try PN532Rig()
        for moment in FailingReader.Moment.allCases {
            try rig.reader.survives(.init(name: "libnfc worker killed", moment: moment)) {
                kill(try #require(rig.worker), SIGKILL)
            }
        }
    }

    @Test("A damaged answer while the chip looks for a card costs another look")
    func damagedWhileArmed() throws {
        let rig = try PN532Rig()
        let faults: [PN532Fault] = [
            .byteLost, .truncated, .garbage, .wrongChecksum, .noAcknowledge, .otherAnswer, .errorFrame,
            .status(.timeOut),
        ]
        for fault in faults {
            let told = FailingReader.Fault(
                name: "one answer: \(fault)", moment: .armed, event: nil, outcome: ["approved"])
            try rig.reader.survives(told) {
                rig.emulator.fault(fault, at: 0x4A)
                rig.emulator.insert(try #require(CardCatalogue.card(named: "visa")))
            }
            #expect(rig.emulator.faultsToCome == 0)
        }
    }

    @Test("A damaged answer while the card is read costs another read, or another worker")
    func damagedWhileReading() throws {
        let rig = try PN532Rig()
        for fault in [PN532Fault.garbage, .wrongChecksum, .byteLost] {
            var told = FailingReader.Fault(
                name: "one answer: \(fault)", moment: .reading, event: nil, outcome: ["approved"])
            // What is missing from an answer is waited for as long as a card may take.
            if fault == .byteLost { told.limit = .seconds(5) }
            try rig.reader.survives(told) { rig.emulator.fault(fault) }
        }
        try rig.reader.survives(.init(name: "libnfc ends its process", moment: .reading)) {
            let worker = try #require(rig.worker)
            rig.emulator.whenReceived(0x40) { kill(worker, SIGSEGV) }
        }
        #expect(rig.emulator.faultsToCome == 0)
    }

    @Test("A line that loses bytes of every answer is a reader that does not work, until the line is good again")
    func badLine() throws {
        let rig = try PN532Rig()
        for moment in [FailingReader.Moment.idle, .armed] {
            try rig.reader.survives(.init(name: "every answer: byteLost", moment: moment)) {
                rig.emulator.damage(.byteLost)
            } repair: {
                rig.emulator.damage(nil)
            }
        }
    }
}

/// An emulated PN532 that can be plugged in again at the same path, and a shop on it.
final class PN532Rig {
    let shop: Shop
    let reader: FailingReader
    private let place: Place
    private let link: String

    /// What is plugged in now.
    private final class Place {
        var emulator: PN532Emulator

        init(_ emulator: PN532Emulator) { self.emulator = emulator }
    }

    var emulator: PN532Emulator { place.emulator }

    init() throws {
        link = NSTemporaryDirectory() + "/pn532-\(UUID().uuidString.prefix(8))"
        let place = Place(try PN532Emulator.start(link: link))
        shop = try Shop(
            reader: "libnfc:\(place.emulator.connectionString)", sandboxArguments: FailingReader.slowSandbox)
        reader = try FailingReader(shop) { card in
            place.emulator.insert(card)
        } remove: {
            place.emulator.remove()
        }
        self.place = place
    }

    deinit {
        place.emulator.unplug()
        try? FileManager.default.removeItem(atPath: link)
    }

    func plug() throws { place.emulator = try PN532Emulator.start(link: link) }

    /// The daemon's worker process.
    var worker: Int32? {
        guard let daemon = shop.daemonProcess else { return nil }
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(Int32.init) ?? []
        return processes.first { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            return status?.split(separator: "\n").contains("PPid:\t\(daemon)") ?? false
        }
    }
}
