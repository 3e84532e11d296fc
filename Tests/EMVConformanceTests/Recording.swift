// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import EMVCrypto
import Foundation
import TestSupport
import Testing

/// A recorded transaction of Tests/Vectors/emv with the terminal that it was recorded with and the published test keys.
struct Recording {
    let id: String
    let exchanges: [(command: String, response: String)]
    /// Commands and data record that another kernel gave for it.
    let expectedCommands: [String]
    let expectedRecord: String

    static let visaOffline = "visa-offline"
    static let mastercardOnline = "msc-online"

    init(_ name: String) throws {
        let transcript = try Recording.line("transcripts.jsonl", "cppemv_mock-\(name)")
        let result = try Recording.line("kernel-outcomes.jsonl", "cppemv_\(name)")
        let expected = try #require(result["expected"] as? [String: Any])
        id = name
        exchanges = try #require(transcript["exchanges"] as? [[String]]).map { ($0[0], $0[1]) }
        expectedCommands = try #require(expected["apdus_sent"] as? [String])
        expectedRecord = try #require(expected["data_record"] as? String)
    }

    private static func line(_ file: String, _ id: String) throws -> [String: Any] {
        try #require(VectorFile.objects("emv/\(file)").first { $0["id"] as? String == id })
    }

    /// The recorded answer, 6700 for a command that was not recorded.
    func answer(_ command: CommandAPDU?) throws -> ResponseAPDU? {
        guard let command else { return nil }
        let text = Hex.string(command.bytes)
        guard let response = exchanges.first(where: { $0.command == text })?.response else {
            return ResponseAPDU(status: .wrongLength)
        }
        return try ResponseAPDU(Hex.bytes(response))
    }

    func entryPoint(
        _ authentication: OfflineAuthentication = .using(.test), date: EMVDate? = nil, ttq: UInt32 = 0x2400_4000
    ) -> EntryPoint {
        let isVisa = id == Recording.visaOffline
        let recorded = isVisa ? EMVDate(year: 2019, month: 8, day: 19) : EMVDate(year: 2020, month: 3, day: 16)
        return EntryPoint(
            configuration: isVisa ? Recording.visaTerminal(ttq) : Recording.mastercardTerminal,
            transaction: Transaction(
                amount: isVisa ? 200 : 9_000, currency: 840, exponent: 2, country: isVisa ? 840 : 56,
                date: date ?? recorded, time: EMVTime(hour: 0, minute: 0, second: 0), sequenceCounter: 1),
            unpredictableNumbers: .fixed([0xABAB_ABAB]), authentication: authentication, kernels: Recording.kernels)
    }

    /// The recording's terminal left bit 7 out of the CVM Results, which the card signed.
    private static let kernels: KernelSet = {
        var kernels = KernelSet.standard
        kernels.register(.mastercard) { Kernel2(options: Kernel2Options(masksCVMCode: true)) }
        return kernels
    }()

    private static func visaTerminal(_ ttq: UInt32) -> TerminalConfiguration {
        TerminalConfiguration(
            terminalData: [
                DataObject(0x9F33, [0xA0, 0x48, 0xC8]), DataObject(0x9F4E, Array("SHOP".utf8)),
                DataObject(0x9F35, [0x22]), DataObject(0x9F39, [0x07]),
            ],
            combinations: [
                Combination(
                    aid: [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10], kernel: .visa,
                    limits: EntryPointLimits(
                        transactionLimit: 20_000, cvmRequiredLimit: 8_000, floorLimit: 8_000,
                        ttq: TTQ(rawValue: ttq)))
            ])
    }

    private static let mastercardTerminal = TerminalConfiguration(
        terminalData: [
            DataObject(0x9F35, [0x22]), DataObject(0x9F53, [0x32]), DataObject(0x9F1E, [0x32, 0x32]),
            DataObject(0x9F40, [0x60, 0x00, 0xF0, 0xF0, 0x01]),
        ],
        combinations: [
            Combination(
                aid: [0xA0, 0x00, 0x00, 0x00, 0x04, 0x10, 0x10], kernel: .mastercard,
                kernelData: [
                    DataObject(0xDF811B, [0x20]), DataObject(0xDF8118, [0x60]), DataObject(0xDF8119, [0x08]),
                    DataObject(0xDF811F, [0x08]), DataObject(0xDF8120, [0, 0, 0, 0, 0]),
                    DataObject(0xDF8121, [0, 0, 0, 0, 0]), DataObject(0xDF8122, [0xF4, 0x50, 0x84, 0x80, 0x0C]),
                    DataObject(0xDF8123, [0, 0, 0, 1, 0, 0]), DataObject(0xDF8124, [0, 0, 0, 3, 0, 0]),
                    DataObject(0xDF8125, [0, 0, 0, 5, 0, 0]), DataObject(0xDF8126, [0, 0, 0, 0, 0x10, 0]),
                ])
        ])
}
