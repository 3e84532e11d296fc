// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Foundation
import Rigs
import TestSupport

/// Something that goes wrong at a reader while a customer presents a card, and what is right then.
struct SweepFault<Desk: SweepDesk>: Sendable {
    let name: String
    /// At one of the card's commands; otherwise before the first.
    var isStepped = true
    /// The card pays where it lies: nobody has to move it.
    var paysUnmoved = true
    /// What lies there may not be paid with, whatever comes.
    var mayNotPay = false
    /// What the sale may fail with instead of being paid: codes that name the cause.
    var mayFail: Set<String> = []
    /// Presents the card of that name with the fault at the step.
    let present: @Sendable (Desk, String, Int) async throws -> Void
}

extension SweepFault {
    /// Done by the card, which is the same for every reader.
    fileprivate static func card(
        _ name: String, _ fault: FaultyCard.Fault, isStepped: Bool = true, paysUnmoved: Bool = true,
        mayFail: Set<String> = []
    ) -> SweepFault {
        SweepFault(name: name, isStepped: isStepped, paysUnmoved: paysUnmoved, mayFail: mayFail) { desk, card, step in
            desk.insert(FaultyCard(try CardCatalogue.required(card), fault, at: step))
        }
    }

    /// Something else than a payment card.
    fileprivate static func thing(
        _ name: String, mayFail: Set<String> = [], _ card: @escaping @Sendable () throws -> any VirtualCard
    ) -> SweepFault {
        SweepFault(name: name, isStepped: false, paysUnmoved: false, mayNotPay: true, mayFail: mayFail) { desk, _, _ in
            desk.insert(try card())
        }
    }

    fileprivate static var ofCards: [SweepFault] {
        [
            .card("card leaves", .leaves, paysUnmoved: false), .card("no bytes", .nothing),
            .card("half a status word", .half),
            // A whole status word that says nothing of use ends the sale where it says that there is nothing to pay with.
            .card("no TLV", .garbage, paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .card("6F00", .status(0x6F00), paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .card("6985", .status(0x6985), paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .card("slow", .slow(milliseconds: 400)),
            .card("silence", .silence, paysUnmoved: false),
            .card("edge of the field", .edge(milliseconds: 900), isStepped: false),
        ]
            + Tag.allCases.map { tag in
                // What takes no command is waited out; what does has said that there is nothing to pay with.
                .thing(tag.rawValue, mayFail: tag.takesCommands ? SweepCodes.noPayment : []) { DressedCard(tag) }
            }
    }
}

/// Error codes by what they say.
enum SweepCodes {
    /// There is nothing on the card that can be paid with here, or it answers nonsense.
    static let noPayment: Set<String> = ["read.card_unsupported", "read.card_unreadable", "read.other_interface"]
    static let reader: Set<String> = ["reader.detached", "reader.faulty"]
    static let inUse: Set<String> = ["reader.in_use"]
}

extension CardCatalogue {
    static func required(_ name: String) throws -> any VirtualCard {
        guard let card = card(named: name) else { throw Trouble.missing(name) }
        return card
    }
}

/// A reader of which it is known what can go wrong.
protocol FaultyDesk: SweepDesk {
    static var faults: [SweepFault<Self>] { get }
}

extension IFDDesk: FaultyDesk { static var faults: [SweepFault<IFDDesk>] { SweepFault.ofPCSC } }
extension PN532Desk: FaultyDesk { static var faults: [SweepFault<PN532Desk>] { SweepFault.ofLibNFC } }
extension VirtualDesk: FaultyDesk { static var faults: [SweepFault<VirtualDesk>] { SweepFault.ofVirtual } }

extension SweepFault where Desk == IFDDesk {
    private static func driver(
        _ name: String, _ action: IFDAction, at moment: IFDMoment? = nil, times: Int? = 1, paysUnmoved: Bool = true,
        mayFail: Set<String> = []
    ) -> SweepFault {
        SweepFault(name: name, isStepped: moment == nil, paysUnmoved: paysUnmoved, mayFail: mayFail) {
            desk, card, step in
            desk.reader.fault(action, at: moment ?? .command(step), times: times)
            try desk.insert(named: card)
        }
    }

    private static func program(_ manner: String, paysUnmoved: Bool, mayFail: Set<String> = []) -> SweepFault {
        SweepFault(name: "a program: \(manner)", isStepped: false, paysUnmoved: paysUnmoved, mayFail: mayFail) {
            desk, card, _ in
            let name = "\(desk.reader.name) 0\(desk.lane.last ?? "0") 00"
            let program = try OtherProgram(manner, reader: name, socket: desk.socket)
            // It has the card a moment before the lane, or after it.
            try desk.insert(named: card)
            // On this thread, which started it: on another one Foundation would not see its end.
            usleep(300_000)
            try program.ends()
        }
    }

    /// A payment card behind contacts, as an interface for both announces it (T=0, no hint of ISO/IEC 14443).
    private static var contacts: SweepFault {
        .thing("contact ATR") {
            let visa = try CardCatalogue.required("visa")
            var activation = visa.activation
            activation.atr = [0x3B, 0x68, 0x00, 0x00, 0x00, 0x73, 0xC8, 0x40, 0x12, 0x00, 0x90, 0x00]
            return DressedCard(visa, as: activation)
        }
    }

    fileprivate static var ofPCSC: [SweepFault] {
        let errors: [SweepFault] = [
            .driver("transmit: communication error", .code(.communicationError)),
            .driver("transmit: time-out", .code(.responseTimeout)),
            .driver("transmit: not supported", .code(.notSupported)),
            .driver("transmit: card not present", .code(.iccNotPresent)),
            .driver("transmit: no such device", .code(.noSuchDevice), mayFail: SweepCodes.reader),
            .driver("transmit: late", .late(milliseconds: 300)),
        ]
        let powerUps: [SweepFault] = (1...3).flatMap { (count: Int) -> [SweepFault] in
            [IFDCode.communicationError, .errorPowerAction].map { code in
                SweepFault.driver("power-up: \(code), \(count) times", .code(code), at: .powerUp, times: count)
            }
        }
        let unpowered: [SweepFault] = [
            // Once it is mute for good, nothing but another look at it is right.
            .driver("mute", .code(.communicationError), at: .powerUp, times: nil, paysUnmoved: false),
            .driver("power-up: slow", .late(milliseconds: 700), at: .powerUp),
        ]
        let answers: [(String, IFDAction)] = [
            ("fails", .code(.communicationError)), ("is not supported", .code(.notSupported)),
            ("has no bytes", .answer([])),
            ("has one byte", .answer([0x90])), ("is 6A81", .answer([0x6A, 0x81])), ("is 6C07", .answer([0x6C, 0x07])),
            ("is 6282", .answer([0x08, 0x01, 0x02, 0x03, 0x62, 0x82])), ("is 6300", .answer([0x63, 0x00])),
        ]
        let getData: [SweepFault] = answers.flatMap { words, action in
            [UInt8(0x00), 0x01].map { p1 in
                SweepFault.driver("FF CA 0\(p1) \(words)", action, at: .getData(p1), times: nil)
            }
        }
        let unplugged = SweepFault(
            name: "unplugged for a moment", isStepped: false, paysUnmoved: false, mayFail: SweepCodes.reader
        ) { desk, card, _ in
            try desk.insert(named: card)
            try await Task.sleep(for: .milliseconds(20))
            desk.reader.unplug()
            try await Task.sleep(for: .milliseconds(300))
            desk.reader.plug()
        }
        let programs: [SweepFault] = [
            .program("exclusive", paysUnmoved: false, mayFail: SweepCodes.inUse),
            .program("dies", paysUnmoved: false, mayFail: SweepCodes.inUse),
            // Left in a protocol that no command can be sent by.
            .program("raw", paysUnmoved: true, mayFail: SweepCodes.inUse),
        ]
        return ofCards + errors + powerUps + unpowered + getData + [contacts, unplugged] + programs
    }
}

extension SweepFault where Desk == PN532Desk {
    private static func chip(
        _ name: String, _ fault: PN532Fault, paysUnmoved: Bool = true, mayFail: Set<String> = []
    ) -> SweepFault {
        SweepFault(name: name, paysUnmoved: paysUnmoved, mayFail: mayFail) { desk, card, step in
            desk.emulator.fault(fault, after: step - 1)
            try desk.insert(named: card)
        }
    }

    fileprivate static var ofLibNFC: [SweepFault] {
        let statuses: [SweepFault] = PN532Status.allCases.map { status in
            // What speaks of the chip and not of the card may be told as the reader's fault.
            .chip("status \(status)", .status(status), mayFail: status.isOfChip ? SweepCodes.reader : [])
        }
        let line: [SweepFault] = [
            .chip("wrong checksum", .wrongChecksum), .chip("garbage", .garbage), .chip("another answer", .otherAnswer),
            .chip("error frame", .errorFrame),
            // Waited for as long as a card may take.
            .chip("late", .late(milliseconds: 300)), .chip("card gone", .cardGone, paysUnmoved: false),
        ]
        let searches: [SweepFault] = [
            PN532Fault.wrongChecksum, .garbage, .otherAnswer, .errorFrame, .truncated, .byteLost, .mute, .noAcknowledge,
            .status(.timeOut),
        ].map { fault in
            SweepFault(name: "search: \(fault)", isStepped: false) { desk, card, _ in
                desk.emulator.fault(fault, at: 0x4A)
                try desk.insert(named: card)
            }
        }
        let twoCards = SweepFault(name: "two cards", isStepped: false, paysUnmoved: false) { desk, card, _ in
            try desk.insert(named: card)
            try desk.insert(named: card == "visa" ? "mastercard" : "visa")
        }
        return ofCards + statuses + line + searches + [twoCards]
    }
}

extension PN532Status {
    fileprivate var isOfChip: Bool {
        switch self {
        case .authentication, .commandNotAcceptable, .invalidParameter, .operationNotAllowed, .bufferTooSmall,
            .bufferOverflow, .temperature, .internalBufferOverflow, .overCurrent:
            true
        default: false
        }
    }
}

extension SweepFault where Desk == VirtualDesk {
    private static func words(
        _ name: String, _ command: String, paysUnmoved: Bool = true, mayFail: Set<String> = []
    ) -> SweepFault {
        SweepFault(name: name, paysUnmoved: paysUnmoved, mayFail: mayFail) { desk, card, step in
            try desk.tell(command.replacing("AT", with: "\(step)").replacing("AFTER", with: "\(step - 1)"))
            try desk.insert(named: card)
        }
    }

    fileprivate static var ofVirtual: [SweepFault] {
        [
            .words("card leaves", "fault card-gone after AFTER", paysUnmoved: false),
            .words("silence", "fault mute at AT", paysUnmoved: false),
            .words("no TLV", "fault garbage at AT", paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .words("6F00", "fault status 6F00 at AT", paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .words("6985", "fault status 6985 at AT", paysUnmoved: false, mayFail: SweepCodes.noPayment),
            .words("slow", "delay 150"),
            SweepFault(name: "two cards", isStepped: false, paysUnmoved: false) { desk, card, _ in
                try desk.insert(named: card)
                try desk.tell("collide")
            },
            SweepFault(name: "unplugged for a moment", isStepped: false, paysUnmoved: false, mayFail: SweepCodes.reader)
            {
                desk, card, _ in
                try desk.insert(named: card)
                try desk.tell("detach")
                try await Task.sleep(for: .milliseconds(300))
                try desk.tell("attach")
            },
        ]
    }
}
