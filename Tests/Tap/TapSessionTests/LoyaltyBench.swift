// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import Loyalty
import ReaderCore
import ReaderVirtual
import Testing

@testable import TapSession

/// Phones and member cards before a virtual reader, every command written down.
final class LoyaltyBench {
    let control: VirtualReaderControl
    let reader: RecordingReader
    let cancellation = TapCancellation()
    private(set) var signals: [LoyaltyTapSignal] = []
    private(set) var transcript = Transcript(header: [], steps: [])

    static let programmes = LoyaltyProgramme.test(
        LoyaltyProgramme.TestKeys(
            clubPassType: WalletTestKeys.clubPassType, clubKey: WalletTestKeys.clubPrivateKey,
            giftPassType: WalletTestKeys.giftPassType, giftKey: WalletTestKeys.giftPrivateKey,
            collector: WalletTestKeys.collectorID, collectorKey: WalletTestKeys.collectorPrivateKeyVersion2,
            collectorKeyVersion: 2))

    init() throws {
        control = try VirtualReaderControl { WalletCatalogue.card(named: $0) }
        reader = RecordingReader(VirtualReader(control))
    }

    func present(_ wallet: String, payment: String? = nil) throws {
        let card = try #require(
            WalletCatalogue.card(named: wallet, payment: payment.flatMap { CardCatalogue.card(named: $0) })
                ?? CardCatalogue.card(named: wallet))
        try control.present(card, named: wallet)
    }

    func tap(
        _ purpose: LoyaltyRequest.Purpose = .passes, presentations: Int = 3, milliseconds: UInt64 = 5_000
    ) throws -> LoyaltyTap {
        LoyaltyTap(
            request: try LoyaltyRequest(
                programmes: LoyaltyBench.programmes, purpose: purpose,
                carriers: purpose == .passes ? LoyaltyRequest.Carrier.allCases : [.wallet, .tag],
                maximumPresentations: presentations),
            deadlines: TapDeadlines(card: monotonicNow().advanced(byMilliseconds: milliseconds)))
    }

    func run(_ tap: LoyaltyTap) throws(ReaderError) -> LoyaltyOutcome {
        defer { transcript = reader.takeTranscript() }
        return try tap.run(on: reader, cancellation: cancellation) { self.signals.append($0) }
    }

    /// What was selected, in order: file names as hex digits.
    var selections: [String] { LoyaltyBench.selections(in: transcript) }

    static func selections(in transcript: Transcript) -> [String] {
        transcript.steps.compactMap { step in
            guard case .exchanged(let command, _) = step, command.ins == 0xA4, command.p1 == 0x04 else { return nil }
            return Hex.string(command.data)
        }
    }

    static let wallet = Hex.string(Array("OSE.VAS.01".utf8))
    static let smartTap = "A000000476D0000111"
    static let tag = "D2760000850101"
    static let paymentDirectory = Hex.string(Array("2PAY.SYS.DDF01".utf8))
}

extension LoyaltyOutcome {
    func status(_ programme: String) -> PassStatus? { entries.first { $0.programme == programme }?.status }

    func member(_ programme: String) -> String? {
        entries.first { $0.programme == programme }?.pass?.member.map { String(decoding: $0.copied, as: UTF8.self) }
    }
}
