// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Foundation
import ReaderCore
import TestSupport
import Testing

@testable import Explain

/// A card as a list of answers: to a command that begins so, these bytes.
struct ToldCard: VirtualCard {
    let answers: [(command: String, answer: String)]
    let activation = CardActivation(technology: .typeA, uid: [8, 1, 2, 3], sak: 0x20)

    mutating func powerOn() {}

    mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        let text = Hex.string(command)
        let match = answers.first { text.hasPrefix($0.command) }?.answer ?? "6A82"
        return .answer((try? Hex.bytes(match)) ?? [0x6A, 0x82])
    }
}

/// What a card says of account and holder leaves the machine nowhere: one list, four ways out.
@Suite struct AccountDataTests {
    private static let iban = "DE89370400440532013000"
    private static let bic = "NOLADE21SHU"

    /// IBAN and BIC in BF0C, as German cards have them (devnied/EMV-NFC-Paycard-Enrollment, test resource GeldKartePpse).
    private static var german: ToldCard {
        func object(_ tag: CardBytes.Tag, _ value: [UInt8]) -> [UInt8] {
            var writer = TLVWriter()
            writer.append(tag, value)
            return writer.bytes
        }
        let aid: [UInt8] = [0xA0, 0, 0, 0, 3, 0x10, 0x10]
        let entry = object(0x61, object(0x4F, aid) + object(0x50, Array("VISA".utf8)) + object(0x87, [1]))
        let directory = object(
            0x6F, object(0x84, Array("2PAY.SYS.DDF01".utf8)) + object(0xA5, object(0xBF0C, entry)))
        let discretionary =
            object(0x5F54, Array(bic.utf8)) + object(0x5F53, Array(iban.utf8))
            + object(0x9F5D, [0, 0, 0, 0x12, 0x34, 0x56])
        let proprietary =
            object(0x50, Array("VISA".utf8)) + object(0x9F38, [0x9F, 0x66, 0x04])
            + object(0xBF0C, discretionary)
        let application = object(0x6F, object(0x84, aid) + object(0xA5, proprietary))
        let options = object(
            0x77,
            object(0x82, [0x20, 0]) + object(0x57, [0x47, 0x61, 0x73, 0x90, 0x01, 0x01, 0x00, 0x10, 0xD2, 0x81, 0x22]))
        return ToldCard(answers: [
            ("00A404000E325041592E", Hex.string(directory) + "9000"), ("00A40400", Hex.string(application) + "9000"),
            ("80A8", Hex.string(options) + "9000"),
        ])
    }

    /// How the same bytes would be seen: as they are and as text in hexadecimal.
    private static func traces(_ text: String) -> [String] { [text, Hex.string(Array(text.utf8))] }

    @Test("C2: a report of a card hides IBAN, BIC and balances, in the list of every object too")
    func report() throws {
        var inspection = CardInspection(terminalData: [])
        let outcome = try drive(
            &inspection, on: SimulatedReader(Self.german), deadlines: TapDeadlines(card: monotonicNow()),
            cancellation: TapCancellation(), onSignal: { _ in })
        let objects = try #require(CardReport(outcome, unmasked: false).applications.first).objects
        for tag in ["5F53", "5F54", "9F5D", "57"] {
            let line = try #require(objects.first { $0.tag == tag }, "\(tag)")
            #expect(line.value == nil && line.length > 0, "\(tag)")
        }
        let all = try #require(CardReport(outcome, unmasked: true).applications.first).objects
        #expect(all.first { $0.tag == "5F53" }?.value == Hex.string(Array(Self.iban.utf8)))
    }

    @Test("C2: decoding hides IBAN, BIC and balances, and a recording has none of them")
    func decodedAndRecorded() throws {
        let application = try #require(Self.german.answers.first { $0.command == "00A40400" }).answer
        let decoded = try CardDataDecoder().decode(try Hex.bytes(application), as: .apdu)
        let json = String(decoding: try JSONEncoder().encode(decoded), as: UTF8.self)
        #expect(json.contains("5F53") && json.contains("5F54") && json.contains("9F5D"))
        let recorder = RecordingReader(SimulatedReader(Self.german))
        var inspection = CardInspection(terminalData: [])
        _ = try drive(
            &inspection, on: recorder, deadlines: TapDeadlines(card: monotonicNow()), cancellation: TapCancellation(),
            onSignal: { _ in })
        let safe = try TranscriptSubstitution(recorder.takeTranscript(header: [])).transcript.text
        for trace in Self.traces(Self.iban) + Self.traces(Self.bic) + ["000000123456"] {
            #expect(!json.contains(trace) && !safe.contains(trace), "\(trace)")
        }
    }

    /// Of each row a value of each length that it is for, and of one that it is not for.
    @Test("C2: what one way out hides every other hides or replaces")
    func oneList() throws {
        #expect(AccountData.rows.count >= 40)
        for (tag, row) in AccountData.rows where !tag.isConstructed {
            for count in Set([row.lengths.lowerBound, 8, 16, 19]).sorted() where count > 0 {
                let value = [UInt8](repeating: 0xC3, count: count)
                let isNamed = row.lengths.contains(count)
                #expect((AccountData.kind(tag, count: count) != nil) == isNamed, "\(tag) \(count)")
                var writer = TLVWriter()
                writer.append(tag, value)
                let decoded = try CardDataDecoder().decode(writer.bytes, as: .tlv)
                #expect((decoded.objects.first?.value == nil) == isNamed, "\(tag) \(count)")
                #expect(decoded.objects.first?.isHidden == isNamed, "\(tag) \(count)")
                guard isNamed, row.kind != .expiry else { continue }
                let answer = try ResponseAPDU([0x70, UInt8(writer.bytes.count)] + writer.bytes + [0x90, 0])
                let step = Transcript.Step.exchanged(
                    try CommandAPDU([0x00, 0xB2, 0x01, 0x0C, 0x00]), .response(answer))
                let safe = try TranscriptSubstitution(Transcript(header: [], steps: [step])).transcript.text
                #expect(!safe.contains(Hex.string(value)), "\(tag) \(count): \(safe)")
            }
        }
    }

    /// C-2 A.1: DS ID is the card number with its sequence number behind it, a second place for the whole number.
    @Test("C2: the data storage identifier, which has the card number, is hidden")
    func dataStorageIdentifier() throws {
        let decoded = try CardDataDecoder(kernel: .mastercard).decode(try Hex.bytes("9F5E0A55413390000015131201"))
        #expect(decoded.objects.first?.isHidden == true && decoded.objects.first?.value == nil)
    }

    @Test("C2: a replay stars the card number in a command whose list asked for it")
    func commands() throws {
        let run = try Recordings.run("visa/offline-fdda.tap")
        let number = "4761739001010010"
        let mask = NumberMask(run.trace.events)
        let command = try CommandAPDU([0x80, 0xAE, 0x80, 0x00, 0x08] + (try Hex.bytes(number)))
        #expect(mask.text(command) == "80AE800008" + String(repeating: "*", count: 16))
        #expect(mask.text(try CommandAPDU([0x80, 0xAE, 0x80, 0x00, 0x01, 0x47])) == "80AE80000147")
        #expect(!ReplayReport(run).lines.joined(separator: "\n").contains(number))
    }
}
