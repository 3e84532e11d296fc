// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Testing

@testable import CardSim

/// Cards of kernels 4 to 7 through Entry Point, kernel and real certificates.
@Suite("Transactions of kernels 4 to 7")
struct FurtherKernelTapTests {
    @Test(
        arguments: [
            ("amex", 4, "374245455400001"), ("jcb", 5, "3569990010082211"), ("discover", 6, "6510000000000117"),
            ("unionpay", 7, "6210948000000011"), ("amex-phone", 4, "374245455400001"),
            ("jcb-phone", 5, "3569990010082211"), ("discover-phone", 6, "6510000000000117"),
            ("unionpay-phone", 7, "6210948000000011"),
        ] as [(String, UInt32, String)])
    func `the online test terminal gets a cryptogram that the issuer verifies`(
        _ name: String, _ kernel: UInt32, _ pan: String
    ) throws {
        let run = try TerminalRun.tap(name)
        #expect(run.outcome.application?.kernel.rawValue == kernel)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.error == ErrorIndication())
        #expect(run.messages == ["15", "17", "1B"])
        #expect(run.verdict() == .verified)
        #expect(run.outcome.account?.pan == pan.utf8.map { $0 - 0x30 })
        #expect(run.verdict([0x9F02: [0, 0, 0, 0, 0x12, 0x51]]) == .wrongCryptogram)
    }

    @Test(
        arguments: [
            ("amex", 9, "0000008000", "3F0000"), ("jcb", 9, "0000008000", "1F0002"),
            ("discover", 6, "8000000000", nil), ("unionpay", 4, "0000000000", nil),
        ] as [(String, Int, String, String?)])
    func `the record has the verification results of each kernel`(
        _ name: String, _ commands: Int, _ tvr: String, _ verification: String?
    ) throws {
        let run = try TerminalRun.tap(name)
        #expect(run.commands.count == commands)
        #expect(run.value(0x95) == tvr)
        #expect(run.value(0x9F34) == verification)
        #expect(run.outcome.outcome.cvm == .noCVM)
    }

    @Test(arguments: ["amex", "jcb", "discover", "unionpay"])
    func `above the limit a card without a device ends in a signature`(_ name: String) throws {
        let run = try TerminalRun.tap(name, amount: 5_000)
        #expect(run.outcome.outcome.status == .onlineRequest)
        #expect(run.outcome.outcome.cvm == .obtainSignature)
        #expect(run.outcome.outcome.receipt)
        #expect(run.verdict() == .verified)
        #expect(try TerminalRun.tap(name, amount: 4_999).outcome.outcome.cvm == .noCVM)
    }

    @Test(arguments: ["jcb-phone", "discover-phone", "unionpay-phone"])
    func `a device that has verified its holder says so`(_ name: String) throws {
        let run = try TerminalRun.tap(name, amount: 5_000)
        #expect(run.outcome.outcome.cvm == .confirmationCodeVerified)
        #expect(run.outcome.outcome.receipt == false)
        #expect(run.verdict() == .verified)
    }

    @Test func `an American Express phone is looked at first and tapped a second time`() throws {
        let run = try TerminalRun.tap("amex-phone", amount: 5_000)
        #expect(run.messages == ["15", "20", "20", "17", "1B"])
        #expect(run.fieldOff == [0, 1_300])
        #expect(run.outcome.outcome.cvm == .confirmationCodeVerified)
        #expect(run.value(0x9F34) == "410302")
        #expect(run.value(0x9F37) != "ABABABAB")
        #expect(run.verdict() == .verified)
    }

    @Test(arguments: ["amex", "jcb", "discover", "unionpay"])
    func `a signed approval stands where the terminal may approve`(_ name: String) throws {
        let run = try TerminalRun.tap(name, .offlineCapable)
        #expect(run.outcome.outcome.status == .approved)
        #expect(run.messages == ["15", "17", "03"])
        #expect(run.value(0x9F27) == "40")
        #expect(run.value(0x95) == "0000000000")
        // A D-PAS card computes its cryptogram before the terminal has authenticated anything.
        let tvr: [UInt8] = [name == "discover" ? 0x80 : 0x00, 0, 0, 0, 0]
        #expect(run.verdict([0x95: tvr]) == .verified)
    }

    @Test(
        arguments: [
            ("amex", Outcome.Status.onlineRequest), ("jcb", .declined), ("discover", .declined),
            ("unionpay", .onlineRequest),
        ])
    func `without CA keys no approval stands`(_ name: String, _ status: Outcome.Status) throws {
        let run = try TerminalRun.tap(name, .offlineCapable, authentication: .using(.none(.test)))
        #expect(run.outcome.outcome.status == status)
        if name == "amex" { #expect(run.value(0x95) == "0400000000") }
    }

    @Test(arguments: ["amex", "jcb", "discover", "unionpay"])
    func `a signature that was changed on its way is noticed`(_ name: String) throws {
        let signature: [UInt8] = [0x9F, 0x4B]
        let run = try TerminalRun.tap(name, .offlineCapable) { _, answer in
            guard let place = answer.data.indices.first(where: { answer.data[$0...].starts(with: signature) }) else {
                return answer
            }
            var data = answer.data
            data[place + 20] ^= 0x01
            return ResponseAPDU(data: data, status: answer.status)
        }
        #expect(run.outcome.outcome.status == (name == "unionpay" ? .onlineRequest : .declined))
    }

    @Test func `what CDA covers cannot be changed either`() throws {
        for (name, tag) in [("amex", [0x9F, 0x10]), ("jcb", [0x9F, 0x50]), ("discover", [0x9F, 0x71])]
            as [(String, [UInt8])]
        {
            let run = try TerminalRun.tap(name, .offlineCapable) { _, answer in
                guard let place = answer.data.indices.first(where: { answer.data[$0...].starts(with: tag) }) else {
                    return answer
                }
                var data = answer.data
                data[place + 3] ^= name == "discover" ? 0x08 : 0x01
                return ResponseAPDU(data: data, status: answer.status)
            }
            #expect(run.outcome.outcome.status == .declined, "\(name)")
        }
    }

    @Test(
        arguments: [("amex", Outcome.CVM.onlinePIN), ("jcb", .onlinePIN), ("discover", .onlinePIN)])
    func `a PIN pad wins over a signature`(_ name: String, _ cvm: Outcome.CVM) throws {
        var configuration = TerminalConfiguration.offlineCapable
        configuration.set(.americanExpress, 0x9F33, [0x00, 0x68, 0x88])
        configuration.set(.jcb, 0x9F53, [0x70, 0x00, 0x00])
        let run = try TerminalRun.tap(name, amount: 6_000, configuration)
        #expect(run.outcome.outcome.cvm == cvm)
        #expect(name == "jcb" || run.outcome.outcome.status == .onlineRequest)
    }

    @Test func `a JCB refund ends in a decline that has the track`() throws {
        let run = try TerminalRun.tap("jcb", type: .refund)
        #expect(run.commands.last?.prefix(3) == [0x80, 0xAE, 0x00])
        #expect(run.outcome.outcome.status == .declined)
        #expect(run.outcome.outcome.dataRecord?.map { $0.tag } == [0x57, 0x95, 0x9F53])
    }
}
