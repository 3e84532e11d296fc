import CardSim
import Foundation
import Rigs
import Testing

/// The unmodified pcscd, libpcsclite and vpcd under the real daemon. Not run where the rig cannot be, except in CI.
@Suite(
    "Recovery: the unmodified pcscd", .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: PrivatePCSCD.missing == nil || ProcessInfo.processInfo.environment["CI"] != nil,
        Comment(rawValue: PrivatePCSCD.missing ?? "")))
struct PrivatePCSCDRecoveryTests {
    @Test("Acceptance test 11: pcscd crashes and starts again")
    func killed() throws {
        let rig = try VPCDShop()
        for moment in FailingReader.Moment.allCases {
            try rig.reader.survives(.init(name: "pcscd killed", moment: moment)) {
                rig.pcscd.kill()
            } repair: {
                try rig.pcscd.restart()
            }
        }
    }

    @Test("Acceptance test 11: pcscd is stopped and started again")
    func stopped() throws {
        let rig = try VPCDShop()
        for moment in FailingReader.Moment.allCases {
            try rig.reader.survives(.init(name: "pcscd stopped", moment: moment)) {
                try rig.pcscd.terminate()
            } repair: {
                try rig.pcscd.restart()
            }
        }
    }

    /// vpcd's readers cannot be unplugged while pcscd runs.
    @Test("A reader that pcscd does not have any more is detached, and back when pcscd has it again")
    func gone() throws {
        let rig = try VPCDShop()
        for moment in FailingReader.Moment.allCases {
            try rig.reader.survives(.init(name: "pcscd without the reader", moment: moment)) {
                try rig.pcscd.terminate()
                try rig.pcscd.restart([])
            } repair: {
                try rig.pcscd.terminate()
                try rig.pcscd.restart([VPCDShop.stanza])
            }
        }
    }

    @Test("A card that leaves in the middle of a command is read anew when it comes back")
    func torn() throws {
        let rig = try VPCDShop()
        let fault = FailingReader.Fault(
            name: "card gone in mid-command", moment: .reading, event: "read.retry", outcome: ["approved"])
        try rig.reader.survives(fault) {
            rig.card.remove()
            rig.card.insert(try #require(CardCatalogue.card(named: "visa")))
        }
    }
}

/// A private pcscd with one of vpcd's readers, a card for it, and a shop on it.
final class VPCDShop {
    static let stanza = PrivatePCSCD.Stanza(name: "ACS ACR122U PICC Interface")
    static let reader = "\(stanza.name) 00 00"

    let pcscd: PrivatePCSCD
    let card: VPCDCard
    let shop: Shop
    let reader: FailingReader

    /// - Parameter card: what lies on the reader before the daemon starts.
    init(card name: String? = nil) throws {
        let pcscd = try PrivatePCSCD([Self.stanza])
        let card = VPCDCard(port: Self.stanza.port, in: pcscd.network)
        if let name { card.insert(try #require(CardCatalogue.card(named: name))) }
        shop = try Shop(
            reader: "pcsc:\(Self.reader)", environment: ["PCSCLITE_CSOCK_NAME": pcscd.socketPath],
            sandboxArguments: FailingReader.slowSandbox)
        reader = try FailingReader(shop) {
            card.insert($0)
        } remove: {
            card.remove()
        }
        self.pcscd = pcscd
        self.card = card
    }

    deinit {
        card.remove()
        pcscd.stop()
    }
}
