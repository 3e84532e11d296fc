// SPDX-License-Identifier: Apache-2.0
import AdapterCheck
import Envelope
import Foundation
import LocalHTTP
import PSPAPI
import PaymentValues
import TestSupport
import Testing

@testable import rig_tills

/// The rules are those of docs/openapi-psp.yaml and docs/integrating/adapters.md, tried by the program that tries anybody's adapter.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct ContractTests {
    private func findings(
        _ sockets: [String], restart: (@Sendable () async -> Bool)? = nil
    ) async throws -> [CheckFinding] {
        let amount = Money(value: 900, currency: try #require(Currency("EUR")))
        return await AdapterCheck(sockets: sockets, amount: amount, recipient: .sandboxTest, restart: restart).run {
            _ in
        }
    }

    @Test func `three replicas behind a proxy keep every rule, over the death of all of them`() async throws {
        try await SwitchRig.run(replicas: 3) { rig in
            let findings = try await findings([rig.proxy, rig.proxy]) {
                for replica in 0..<3 { rig.kill(replica) }
                return true
            }
            #expect(findings.filter { $0.verdict == .fail || $0.verdict == .notTried } == [])
            #expect(
                findings.filter { $0.verdict == .notSupported }.map(\.rule) == [
                    .adjust, .figures, .figuresRepeat, .figuresQuery, .figuresItems, .charge, .chargeRepeat,
                    .chargeOtherBody, .unknownToken, .deletion, .deletionRepeat, .deletionEnds, .pinVerified,
                    .pinContinuation, .link, .linkRepeat, .linkOtherBody, .linkClosed, .linkNeverOpened,
                    .handover, .handoverClosed, .handoverNeverOpened, .handoverTerminal, .receipt, .receiptRepeat,
                    .receiptOtherTransaction, .receiptEnvelope,
                ])
            let direct = try await self.findings(rig.sockets)
            #expect(direct.filter { $0.verdict == .fail } == [])
            #expect(direct.filter { $0.verdict == .notTried }.map(\.rule) == [.restart])
            try await PaymentBooksCheck(rig).holds()
            try await checkDayEnd(rig)
            try CardNumbers.areNowhere(in: [rig.folder, rig.server.folder])
        }
    }

    /// ISO 8583:1987: 0500 with numbers in 74 to 77 and amounts in 86 to 89; the acquirer counts by itself what it has approved.
    private func checkDayEnd(_ rig: SwitchRig) async throws {
        #expect(try rig.run(["close-day", "--database", rig.server.address]))
        try await eventually("the acquirer's word on the day") {
            try rig.server.sql("select count(*) from day_end where balance = 'inBalance'").hasPrefix("1")
        }
        #expect(try rig.server.sql("select count(*) from exchange where kind = 'day'").hasPrefix("1"))
        #expect(try rig.server.sql("select count(*) from day where closed is null").hasPrefix("1"))
    }

    /// docs/openapi-psp.yaml, Health: `down`; section 7 of the design: 91, try again.
    @Test func `without an acquirer health says down and a sale is declined for now`() async throws {
        try await SwitchRig.run(replicas: 1, hasAcquirer: false) { rig in
            let till = TestTill(rig.sockets[0])
            let request = try await till.sale(900)
            let answer = try #require(try await till.post(request).answer)
            #expect(answer.outcome == .declined)
            #expect(answer.responseCode == "91")
            #expect(answer.action == .tryAgain)
            // The same key, the same answer.
            #expect(try await till.post(request).answer == answer)
        }
    }
}

/// No file of a run holds a test card's number: books, write-ahead log and logs included.
enum CardNumbers {
    static func areNowhere(in folders: [URL]) throws {
        let number = "4761739001010010"
        let packed: [UInt8] = stride(from: 0, to: 16, by: 2).compactMap { offset in
            UInt8(number.dropFirst(offset).prefix(2), radix: 16)
        }
        var searched = 0
        for folder in folders {
            let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
            while let file = files?.nextObject() as? URL {
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
                let content = try Data(contentsOf: file)
                searched += 1
                #expect(content.range(of: Data(number.utf8)) == nil, "\(file.lastPathComponent)")
                #expect(content.range(of: Data(packed)) == nil, "\(file.lastPathComponent), packed")
            }
        }
        #expect(searched > 100)
    }
}
