// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Testing

@testable import EMV

@Suite("Cardholder verification")
struct CVMSelectionTests {
    private func conditions(
        amount: UInt64 = 1_000, other: UInt64 = 0, type: TransactionType = .purchase, terminal: UInt8 = 0x22,
        capabilities: UInt8 = 0x68, currency: Bool = true
    ) -> CVMConditions {
        CVMConditions(
            amount: amount, otherAmount: other, transactionType: type, terminalType: TerminalType(rawValue: terminal),
            isApplicationCurrency: currency, capabilities: capabilities)
    }

    private func results(_ list: String, _ conditions: CVMConditions) throws -> String {
        Hex.string(CVMSelection.walk(try #require(CVMList(try Hex.bytes(list))), conditions).results)
    }

    @Test func `an online PIN rule counts only where the reader takes one`() throws {
        let list = "000000000000000042031F03"
        #expect(try results(list, conditions(capabilities: 0x48)) == "420300")
        #expect(try results(list, conditions(capabilities: 0x08)) == "1F0302")
        let selection = CVMSelection.walk(
            try #require(CVMList(try Hex.bytes(list))), conditions(capabilities: 0x48))
        #expect(selection.cvm == .onlinePIN)
        #expect(selection.tvr == .onlinePINEntered)
    }

    @Test func `a signature rule asks for a signature and a receipt`() throws {
        let selection = CVMSelection.walk(
            try #require(CVMList(try Hex.bytes("00000000000000001E031F03"))), conditions(capabilities: 0x28))
        #expect(selection.cvm == .obtainSignature)
        #expect(selection.receipt)
        #expect(selection.results == [0x1E, 0x03, 0x00])
    }

    @Test func `an unknown method is noted and leads on only with its bit 7`() throws {
        for (list, expected) in [("000000000000000046001F00", "1F0002"), ("000000000000000006001F00", "3F0001")] {
            let selection = CVMSelection.walk(try #require(CVMList(try Hex.bytes(list))), conditions())
            #expect(Hex.string(selection.results) == expected)
            #expect(selection.tvr.contains(.unrecognisedCVM))
        }
    }

    @Test func `a method the reader cannot do leads on only with its bit 7`() throws {
        #expect(try results("000000000000000041001F00", conditions()) == "1F0002")
        #expect(try results("000000000000000001001F00", conditions()) == "3F0001")
    }

    @Test func `the method fail is reported by itself`() throws {
        let selection = CVMSelection.walk(try #require(CVMList(try Hex.bytes("00000000000000000000"))), conditions())
        #expect(selection.results == [0x00, 0x00, 0x01])
        #expect(selection.tvr == .cardholderVerificationFailed)
    }

    @Test func `a list without a fitting rule fails verification`() throws {
        let selection = CVMSelection.walk(try #require(CVMList(try Hex.bytes("00000000000000001F05"))), conditions())
        #expect(selection.results == [0x3F, 0x00, 0x01])
        #expect(selection.tvr == .cardholderVerificationFailed)
    }

    @Test(
        "amount conditions have the amount on their left side",
        arguments: [
            ("06", 999, true), ("06", 1_000, false), ("07", 1_000, false), ("07", 1_001, true),
            ("08", 499, true), ("08", 500, false), ("09", 500, false), ("09", 501, true),
        ] as [(String, UInt64, Bool)])
    func amountConditions(condition: String, amount: UInt64, holds: Bool) throws {
        let list = "000003E8000001F41F" + condition
        #expect(try results(list, conditions(amount: amount)) == (holds ? "1F\(condition)02" : "3F0001"))
        #expect(try results(list, conditions(amount: amount, currency: false)) == "3F0001")
    }

    @Test(
        "cash, cashback and attendance decide their conditions",
        arguments: [
            ("01", TransactionType.cash, 0x24, true), ("01", .cash, 0x22, false), ("01", .purchase, 0x24, false),
            ("02", .purchase, 0x22, true), ("02", .cash, 0x22, false), ("02", .purchaseWithCashback, 0x22, false),
            ("04", .cash, 0x22, true), ("04", .cash, 0x24, false), ("05", .purchaseWithCashback, 0x22, true),
            ("05", .purchase, 0x22, false), ("0A", .purchase, 0x22, false),
        ] as [(String, TransactionType, UInt8, Bool)])
    func typeConditions(condition: String, type: TransactionType, terminal: UInt8, holds: Bool) throws {
        let list = "00000000000000001F" + condition
        #expect(
            try results(list, conditions(type: type, terminal: terminal)) == (holds ? "1F\(condition)02" : "3F0001"))
    }

    @Test func `a list whose last rule is cut off is none`() throws {
        #expect(CVMList(try Hex.bytes("00000000000000001F031E")) == nil)
    }
}

@Suite("Action analysis and risk")
struct ActionAnalysisTests {
    private let published = TVR(rawValue: 0xF4_5084_800C)

    private func bits() -> [TVR] { (0..<40).map { TVR(rawValue: 1 << UInt64($0)) } }

    @Test func `each bit of the online action code asks for an ARQC and every other bit allows a TC`() {
        let codes = ActionCodes(
            terminalDenial: [], terminalOnline: published, terminalDefault: published, issuerOnline: [],
            issuerDefault: [])
        for bit in bits() {
            let hit = !bit.isDisjoint(with: published)
            #expect(Kernel2TAA.decide(bit, codes, TerminalType(rawValue: 0x22)) == (hit ? .arqc : .tc))
            #expect(codes.decide(bit, TerminalType(rawValue: 0x22)) == (hit ? .arqc : .tc))
            #expect(Kernel2TAA.decide(bit, codes, TerminalType(rawValue: 0x23)) == (hit ? .aac : .tc))
            #expect(codes.decide(bit, TerminalType(rawValue: 0x23)) == (hit ? .aac : .tc))
            #expect(Kernel2TAA.decide(bit, codes, TerminalType(rawValue: 0x21)) == .arqc)
        }
    }

    @Test func `each bit of a denial code refuses`() {
        for bit in bits() {
            let terminal = ActionCodes(terminalDenial: bit, terminalOnline: [], terminalDefault: [])
            let issuer = ActionCodes(terminalDenial: [], terminalOnline: [], terminalDefault: [], issuerDenial: bit)
            for type: UInt8 in [0x21, 0x22, 0x23] {
                #expect(Kernel2TAA.decide(bit, terminal, TerminalType(rawValue: type)) == .aac)
                #expect(Kernel2TAA.decide(bit, issuer, TerminalType(rawValue: type)) == .aac)
                #expect(terminal.decide(bit, TerminalType(rawValue: type)) == .aac)
            }
        }
    }

    @Test func `kernel 2 without issuer codes lets only an empty TVR pass`() {
        let codes = ActionCodes(terminalDenial: [], terminalOnline: [], terminalDefault: [])
        #expect(Kernel2TAA.decide([], codes, TerminalType(rawValue: 0x22)) == .tc)
        #expect(Kernel2TAA.decide(.relayResistanceNotPerformed, codes, TerminalType(rawValue: 0x22)) == .arqc)
        #expect(Kernel2TAA.decide(.relayResistanceNotPerformed, codes, TerminalType(rawValue: 0x26)) == .aac)
    }

    @Test func `a card never answers with more than was asked for`() {
        let allowed: [(ApplicationCryptogram, [ApplicationCryptogram])] = [
            (.tc, [.tc, .arqc, .aac]), (.arqc, [.arqc, .aac]), (.aac, [.aac]),
        ]
        for (requested, answers) in allowed {
            for answer in ApplicationCryptogram.allCases {
                #expect(answer.isAllowed(for: requested) == answers.contains(answer))
            }
        }
    }

    @Test func `random selection takes the target share below the threshold and more of it above`() {
        let selection = RandomSelection(
            floorLimit: 10_000, threshold: 5_000, targetPercentage: 20, maximumPercentage: 80)
        func share(_ amount: UInt64) -> Int {
            (0..<99).filter { selection.selects(amount: amount, random: UInt32($0)) }.count
        }
        #expect(share(4_999) == 20)
        #expect(share(5_000) == 20)
        #expect(share(7_500) == 50)
        #expect(share(9_999) == 79)
        #expect(share(10_000) == 0)
    }

    @Test func `random selection of the largest amounts does not overflow`() {
        let selection = RandomSelection(
            floorLimit: .max, threshold: 0, targetPercentage: 0, maximumPercentage: 99)
        #expect(selection.selects(amount: .max - 1, random: 0))
    }

    @Test func `the sum of two amounts that overflows exceeds the floor limit`() {
        #expect(
            TerminalRiskManagement(amount: .max, previousAmount: 1, floorLimit: .max).evaluate() == .floorLimitExceeded)
    }

    @Test func `action codes and verification results keep their bytes`() {
        #expect(TVR([0x80, 0x40, 0x20, 0x10, 0x08])?.bytes == [0x80, 0x40, 0x20, 0x10, 0x08])
        #expect(TVR([0x80]) == nil)
        #expect(TVR.onlinePINEntered.union(.relayResistanceNotPerformed).bytes == [0x00, 0x00, 0x04, 0x00, 0x01])
    }
}
