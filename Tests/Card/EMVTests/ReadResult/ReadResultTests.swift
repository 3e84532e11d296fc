// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport
import Testing

@testable import EMV

@Suite("Read result")
struct ReadResultTests {
    private func application(_ preferred: String?, table: UInt8?, label: String?) -> SelectedApplication {
        SelectedApplication(
            adfName: AID.visa, matchingAID: AID.visa, kernel: .visa, label: label.map { Array($0.utf8) },
            preferredName: preferred.map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } },
            codeTableIndex: table)
    }

    @Test func `the preferred name is shown where its code table can be, else the label, else the AID`() {
        #expect(application("CARTE BLEUE", table: 1, label: "VISA").displayName == "CARTE BLEUE")
        #expect(application("CRÉDIT", table: 1, label: "CREDIT").displayName == "CRÉDIT")
        #expect(application("CRÉDIT", table: 5, label: "CREDIT").displayName == "CREDIT")
        #expect(application("CRÉDIT", table: nil, label: "CREDIT ").displayName == "CREDIT")
        #expect(application(nil, table: nil, label: nil).displayName == "A0000000031010")
        #expect(application("\u{1}", table: 1, label: "\n").displayName == "A0000000031010")
    }

    @Test func `account data come from 5A and 5F24, else from track 2`() throws {
        let track = DataObject(0x57, try Hex.bytes("4761739001010010D22122011143844489"))
        let both = try #require(
            CardAccount(record: [
                track, DataObject(0x5A, try Hex.bytes("4761739001010010")), DataObject(0x5F24, [0x22, 0x12, 0x30]),
                DataObject(0x5F34, [0x01]),
            ]))
        #expect(both.expiry == EMVDate(year: 2022, month: 12, day: 30))
        #expect(both.sequenceNumber == 1)
        let trackOnly = try #require(CardAccount(record: [track]))
        #expect(trackOnly.pan == both.pan)
        #expect(trackOnly.expiry == EMVDate(year: 2022, month: 12, day: 31))
        #expect(trackOnly.track2?.serviceCode == [2, 0, 1])
        #expect(CardAccount(record: [DataObject(0x9A, [0x20, 0x03, 0x16])]) == nil)
    }

    @Test func `a PAN is masked to its first six and last four digits`() throws {
        func masked(_ hex: String) throws -> String? {
            CardAccount(record: [DataObject(0x5A, try Hex.bytes(hex))])?.maskedPAN
        }
        #expect(try masked("4761739001010010") == "476173******0010")
        #expect(try masked("374245455400001F") == "374245*****0001")
        #expect(try masked("12345678") == "****5678")
        #expect(try masked("123F") == "123")
    }

    @Test func `an account is not printed`() throws {
        let account = try #require(CardAccount(record: [DataObject(0x5A, try Hex.bytes("4761739001010010"))]))
        var dumped = ""
        dump(account, to: &dumped)
        #expect(!"\(account)\(dumped)".contains("0010"))
    }

    @Test func `track 2 without a separator, digits or expiry is none`() throws {
        for hex in ["", "47617390010100104761739001", "47A1D2212201", "D2212201", "4761D22", "4761D2A1"] {
            let bytes = hex.utf8.count.isMultiple(of: 2) ? try Hex.bytes(hex) : try Hex.bytes(hex + "F")
            #expect(Track2Equivalent(bytes) == nil, "\(hex)")
        }
    }

    @Test func `what was tapped depends on the kernel`() {
        let card = DataObject(0x9F6E, [0x00, 0x00, 0x00, 0x00])
        let watch = DataObject(0x9F6E, [0x24, 0x00, 0x00, 0x00])
        #expect(DeviceKind(record: [card], kernel: .visa) == .card)
        #expect(DeviceKind(record: [watch], kernel: .visa) == .wristWorn)
        #expect(DeviceKind(record: [watch], kernel: .americanExpress) == nil)
        #expect(DeviceKind(record: [DataObject(0x9F6E, [0x23, 0, 0, 0])], kernel: .visa) == .phone)
        let phone = DataObject(0x9F6E, [0x08, 0x40, 0x00, 0x01, 0x30, 0x31])
        #expect(DeviceKind(record: [phone], kernel: .mastercard) == .phone)
        let fob = DataObject(0x9F6E, [0x08, 0x40, 0x00, 0x01, 0x31, 0x32])
        #expect(DeviceKind(record: [fob], kernel: .mastercard) == .other(12))
        #expect(
            DeviceKind(record: [DataObject(0x9F6E, [0x08, 0x40, 0x80, 0x01, 0x31, 0x32])], kernel: .mastercard) == nil)
        #expect(DeviceKind(record: [], kernel: .visa) == nil)
    }

    @Test func `no tag that carries account data may leave in the clear`() {
        let secret: [CardBytes.Tag] = [
            0x56, 0x57, 0x5A, 0x5F20, 0x5F24, 0x99, 0x9F0B, 0x9F1F, 0x9F20, 0x9F6B, 0x9F24, 0x90, 0x9F46, 0x9F4B,
        ]
        for tag in secret { #expect(!ClearTags.contains(tag)) }
        #expect(ClearTags.contains(0x9F26))
    }

    @Test func `the completed record has what a host of Visa demands`() throws {
        let card = ScriptedCard(try Vectors.exchanges("cppemv_mock-visa-online"))
        var entryPoint = EntryPoint(
            configuration: Terminals.visa(), transaction: .test(9_000),
            unpredictableNumbers: Terminals.unpredictableNumbers)
        let final = try Run.drive(&entryPoint) { card.answer($1) }.outcome
        let record = try #require(final.completed(for: .test(9_000), at: Terminals.visa()).outcome.dataRecord)
        let tags = record.map { $0.tag }
        #expect(final.missingHostData(for: .test(9_000), at: Terminals.visa()) != nil)
        for tag: CardBytes.Tag in [0x84, 0x9F03, 0x95, 0x9F10, 0x9F26, 0x9F33, 0x9F36, 0x9F37, 0x82] {
            #expect(tags.contains(tag))
        }
        #expect(final.account?.lastFour == "0010")
        #expect(final.application?.displayName == "VISA CREDIT")
    }

    @Test func `an outcome is coded as the parameter set`() {
        let online = Outcome(
            .onlineRequest, cvm: .onlinePIN, uiOnOutcome: UIRequest(.authorising, .notReady), dataRecord: [],
            discretionaryData: [], receipt: true)
        #expect(Hex.string(online.parameterSet) == "30F0F020B8F0FF00")
        let again = Outcome(
            .tryAgain, start: .b, uiOnRestart: UIRequest(.presentCardAgain, .readyToRead), fieldOffRequest: 13,
            removalTimeout: 5)
        #expect(Hex.string(again.parameterSet) == "7010F0F040F00D05")
    }

    @Test func `a request is coded with hold time, language and balance`() {
        let request = UIRequest(
            .approved, .notReady, holdTime: 13, languagePreference: Array("deen".utf8),
            value: UIRequest.Value(qualifier: .balance, amount: [0, 0, 0, 0, 0x12, 0x34], currency: [0x09, 0x78]))
        #expect(Hex.string(request.bytes) == "0300000013" + "6465656E00000000" + "20" + "000000001234" + "0978")
        #expect(request.holdMilliseconds == 1_300)
        #expect(UIRequest(.none, .none).bytes.count == 22)
    }

    @Test func `each verification has words for a receipt`() {
        #expect(Set(Outcome.CVM.allCases.map { $0.receiptText }).count == Outcome.CVM.allCases.count)
    }
}
