// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import ReaderCore
import ReaderVirtual
import TestSupport
import Testing

@testable import Explain

/// What `nfc-tap read` says of cards that others have met.
@Suite struct CardReportTests {
    private static func object(_ tag: CardBytes.Tag, _ value: [UInt8]) -> [UInt8] {
        var writer = TLVWriter()
        writer.append(tag, value)
        return writer.bytes
    }

    private static func entry(_ aid: [UInt8]) -> [UInt8] { object(0x61, object(0x4F, aid) + object(0x87, [1])) }

    private static func directory(_ entries: [UInt8]) -> [UInt8] {
        object(0x6F, object(0x84, Array("2PAY.SYS.DDF01".utf8)) + object(0xA5, object(0xBF0C, entries)))
    }

    private static let visa: [UInt8] = [0xA0, 0, 0, 0, 3, 0x10, 0x10]
    private static let track: [UInt8] = object(
        0x57, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD2, 0x81, 0x22])

    /// A card with one application, by its FCI's proprietary data, its processing options and further answers.
    private static func card(
        _ aid: [UInt8], _ data: [UInt8] = object(0x50, Array("VISA".utf8)), options: [UInt8] = [],
        status: String = "9000",
        _ more: [(command: String, answer: String)] = []
    ) -> ToldCard {
        let fci = object(0x6F, object(0x84, aid) + object(0xA5, data))
        return ToldCard(
            answers: more + [
                ("00A404000E325041592E", Hex.string(directory(entry(aid))) + "9000"),
                ("00A40400", Hex.string(fci) + "9000"), ("80A8", Hex.string(options) + status),
            ])
    }

    private func report(_ card: ToldCard) throws -> CardReport {
        var inspection = CardInspection(
            terminal: .test, data: [DataObject(0x9F66, [0x36, 0x80, 0x40, 0]), DataObject(0x9A, [0x26, 0x11, 0x28])])
        let outcome = try drive(
            &inspection, on: SimulatedReader(card), deadlines: TapDeadlines(card: monotonicNow()),
            cancellation: TapCancellation(), onSignal: { _ in })
        return CardReport(outcome, unmasked: false)
    }

    @Test("C3: American Express is read with the daemon's terminal: its kernel's own capabilities answer the PDOL")
    func americanExpress() throws {
        // Cards refuse 9F6E of zeros with 6985 (stripe-android #13672). Its PDOL: 9F35, 9F6E.
        let options = Self.object(0x77, Self.object(0x82, [0x19, 0x80]) + Self.track)
        let card = ToldCard(answers: [
            ("00A404000E325041592E", Hex.string(Self.directory(Self.entry([0xA0, 0, 0, 0, 0x25, 1, 8, 1]))) + "9000"),
            (
                "00A40400",
                Hex.string(Self.object(0x6F, Self.object(0xA5, Self.object(0x9F38, [0x9F, 0x35, 1, 0x9F, 0x6E, 4]))))
                    + "9000"
            ),
            ("80A8000007830521" + "18A00003", Hex.string(options) + "9000"), ("80A8", "6985"),
        ])
        let report = try self.report(card)
        let application = try #require(report.applications.first)
        #expect(report.hasRead && application.cardNumber?.hasSuffix("0010") == true)
        #expect(application.scheme == "American Express")
    }

    @Test("C4: where nothing was read the report says so, and why")
    func nothing() throws {
        let cases: [(card: ToldCard, words: String)] = [
            // Wallets without a card, and entries that are left out (EMV Contactless Book B 3.3.2.5 A).
            (ToldCard(answers: [("00A404000E", Hex.string(Self.directory([])) + "9000")]), "names no application"),
            (
                ToldCard(answers: [
                    ("00A404000E", Hex.string(Self.directory(Self.entry([0xA0, 0, 0, 6]) + Self.entry([]))) + "9000")
                ]), "names no application"
            ),
            // BF0C beside A5 and not in it.
            (
                ToldCard(answers: [
                    (
                        "00A404000E",
                        Hex.string(
                            Self.object(0x6F, Self.object(0x84, [1]) + Self.object(0xBF0C, Self.entry(Self.visa))))
                            + "9000"
                    )
                ]), "names no application"
            ),
            (Self.card(Self.visa, status: "6986"), "no application let itself be read"),
        ]
        for (card, words) in cases {
            let report = try self.report(card)
            #expect(!report.hasRead && report.end.contains(words), "\(report.end)")
        }
        // VCPS: a locked phone answers GET PROCESSING OPTIONS with 6986.
        let locked = try self.report(Self.card(Self.visa, status: "6986"))
        #expect(locked.applications.first?.end.contains("unlock the phone") == true)
    }

    @Test("C4: the name that a card prefers is shown in its code table, as a receipt has it")
    func names() throws {
        let options = Self.object(0x77, Self.object(0x82, [0x20, 0]) + Self.track)
        let label = Self.object(0x50, Array("VISA".utf8))
        let preferred = { (name: [UInt8], table: UInt8) in
            try self.report(
                Self.card(Self.visa, label + Self.object(0x9F11, [table]) + Self.object(0x9F12, name), options: options)
            )
        }
        // EMV Book 4 §11.3; ISO/IEC 8859-1 and -5.
        #expect(try preferred([0x43, 0xE9, 0x62], 1).applications.first?.preferredName == "Céb")
        #expect(try preferred([0xBA, 0xD0, 0xE0], 5).applications.first?.preferredName == "Кар")
        let other = try #require(try preferred([0xE1, 0xE2], 7).applications.first)
        #expect(other.preferredName == nil && other.label == "VISA" && other.scheme == "Visa")
    }

    @Test("C4: a record in a form of its own and an object that is none cost nothing that can be read")
    func records() throws {
        let number = Self.object(0x5A, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10])
        let expiry = Self.object(0x5F24, [0x28, 0x12, 0x31])
        let options = Self.object(0x77, Self.object(0x82, [0x20, 0]) + Self.object(0x94, [0x58, 1, 1, 0, 8, 1, 2, 0]))
        // Of file 11 (EMV Book 3 §5.3.2.2); then E0 without BER-TLV in it behind good objects (russss/python-emv #6).
        let report = try self.report(
            Self.card(
                Self.visa, options: options,
                [
                    ("00B2015C", "40000000002200094911011200E06190222100009000"),
                    (
                        "00B2010C",
                        Hex.string(
                            Self.object(
                                0x70, number + [0xE0, 0x0B, 1, 8, 0x90, 0x81, 0xB0, 0x84, 0xC1, 0x15, 0x15, 0xF4, 3]))
                            + "9000"
                    ), ("00B2020C", Hex.string(Self.object(0x70, expiry)) + "9000"),
                ]))
        let application = try #require(report.applications.first)
        #expect(application.cardNumber == "************0010" && application.expiry == "2028-12-31")
        #expect(application.end == "read completely")
        // An object cut off: what stands before it is there, the record behind it is read, and the end says so.
        let cut = try self.report(
            Self.card(
                Self.visa, options: options,
                [
                    ("00B2010C", Hex.string([0x70, 0x0D] + number + [0x5F, 0x34, 9]) + "9000"),
                    ("00B2020C", Hex.string(Self.object(0x70, expiry)) + "9000"),
                ]))
        let rest = try #require(cut.applications.first)
        #expect(rest.cardNumber == "************0010" && rest.expiry == "2028-12-31" && cut.hasRead)
        #expect(rest.end == "answers that are no valid data objects")
    }

    @Test("C4: a card with Track 2 Data of the mag-stripe mode alone has an expiry")
    func magStripe() throws {
        // metrodroid #809: phones have 9F6B only.
        let options = Self.object(0x77, Self.object(0x82, [0, 0]) + Self.object(0x94, [8, 1, 1, 0]))
        let track: [UInt8] = [
            0x54, 0x13, 0x33, 0x00, 0x89, 0x01, 0x06, 0x40, 0xD2, 0x81, 0x22, 0x01, 0, 0, 0, 0, 0, 0, 0x0F,
        ]
        let report = try self.report(
            Self.card(
                [0xA0, 0, 0, 0, 4, 0x10, 0x10], options: options,
                [("00B2010C", Hex.string(Self.object(0x70, Self.object(0x9F6B, track))) + "9000")]))
        #expect(report.applications.first?.expiry == "2028-12")
    }

    // MARK: Explanations

    private func explanation(_ card: ToldCard) -> [String] {
        let trace = TapTrace(
            on: SimulatedReader(card), configuration: .test,
            transaction: Transaction(
                amount: 1_250, currency: 978, exponent: 2, country: 276, date: EMVDate(year: 2026, month: 11, day: 28),
                time: EMVTime(hour: 10, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([1]), authentication: .unavailable,
            deadlines: TapDeadlines(card: monotonicNow().advanced(byMilliseconds: 60_000)), pause: { _ in })
        return Explanation(trace).lines
    }

    /// EMV Contactless Book B 3.3.3.6: a Visa card whose PDOL does not ask for the TTQ is passed over before a kernel is started.
    @Test("C5: an application that is passed over before its kernel ran is not said to be given up by it")
    func noKernel() {
        let lines = explanation(Self.card(Self.visa))
        #expect(lines.contains { $0.contains("no kernel ran") } && !lines.contains { $0.contains("gave it up") })
        #expect(!lines.contains { $0.contains("so the next candidate") })
    }

    @Test("C5: a phone that always wants another tap is not told as a wait that timed out")
    func tooManyTaps() {
        let data = Self.object(0x50, Array("VISA".utf8)) + Self.object(0x9F38, [0x9F, 0x66, 4, 0x9F, 0x37, 4])
        let lines = explanation(Self.card(Self.visa, data, status: "6986"))
        #expect(lines.contains { $0.contains("10 times") } && !lines.contains { $0.contains("timed out") }, "\(lines)")
    }

    @Test("C5: a card that wants another length for ever has not left")
    func endless() {
        let data = Self.object(0x50, Array("VISA".utf8)) + Self.object(0x9F38, [0x9F, 0x66, 4, 0x9F, 0x37, 4])
        let lines = explanation(Self.card(Self.visa, data, status: "6C00"))
        #expect(lines.contains { $0.contains("6C00 again and again") && $0.contains("had not left") }, "\(lines)")
        #expect(!lines.contains { $0.contains("card left") }, "\(lines)")
    }

    @Test("C7: what the terminal has no kernel for is told by its name, and that its kernel is not public")
    func domestic() {
        let lines = explanation(Self.card([0xD0, 0x56, 0, 6, 0x66, 0x11, 0x10], []))
        #expect(lines.contains { $0.contains("it is Bancontact's and its kernel is not public") }, "\(lines)")
    }
}
