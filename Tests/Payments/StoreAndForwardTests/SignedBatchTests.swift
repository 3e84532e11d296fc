// SPDX-License-Identifier: Apache-2.0
import Envelope
import PSPAPI
import PaymentValues
import StoreAndForward
import Testing

@Suite("Signed records, batches and their receipts")
struct SignedBatchTests {
    private let key = SigningKey()
    private let psp = SigningKey()
    private let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func record(_ value: Int64 = 500, offline: Bool = true) throws -> SignedRecord {
        let card = try #require(MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010"))
        let request = AuthorizationRequest(
            id: TransactionID(), mode: .test, type: .sale,
            amount: Money(value: value, currency: try #require(Currency("EUR"))), entryMode: .contactlessEMV,
            cvm: .noCVM, emv: "", card: card, envelope: "sealed",
            terminal: .init(id: "1", merchant: "m", capabilities: []), offline: offline)
        return try SignedRecord(
            .init(authorization: request, storedAt: now, serviceName: "psp", boot: "b"), key: key)
    }

    private func altered(_ jws: String) -> String {
        var bytes = Array(jws.utf8)
        let middle = bytes.count / 2
        bytes[middle] = bytes[middle] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a record that was signed with the name's former member is read`() throws {
        let text = String(decoding: try WireJSON.encode(record().content), as: UTF8.self)
        #expect(text.contains(#""serviceName":"psp""#) && !text.contains("issuer"))
        let former = text.replacing(#""serviceName":"#, with: #""issuer":"#)
        let jws = try JWS.sign(Array(former.utf8), key: key, type: SignedRecord.type)
        #expect(try SignedRecord(jws: jws, key: key.verificationKey).content.serviceName == "psp")
    }

    @Test("Acceptance test 9: a batch's signature verifies, and gives back the records in order")
    func verifies() throws {
        let records = try [record(1), record(2), record(3)]
        let batch = try SignedBatch(id: "b", records: records.map(\.jws), createdAt: now, key: key)
        #expect(batch.content.count == 3)
        let verified = try SignedBatch.verify(
            signature: batch.signature, records: records.map(\.jws), key: key.verificationKey)
        #expect(verified == records)
    }

    @Test("Acceptance test 9: an altered, missing, doubled or exchanged record is detected")
    func detected() throws {
        let records = try [record(1), record(2)].map(\.jws)
        let batch = try SignedBatch(id: "b", records: records, createdAt: now, key: key)
        let wrong = [
            [altered(records[0]), records[1]], [records[0]], [records[0], records[0], records[1]],
            [records[1], records[0]], [], [records[0], try record(9).jws],
        ]
        for records in wrong {
            #expect(throws: SignedRecordError.altered) {
                try SignedBatch.verify(signature: batch.signature, records: records, key: key.verificationKey)
            }
        }
        #expect(throws: SignedRecordError.altered) {
            try SignedBatch.verify(signature: altered(batch.signature), records: records, key: key.verificationKey)
        }
        #expect(throws: SignedRecordError.altered) {
            try SignedBatch.verify(signature: batch.signature, records: records, key: psp.verificationKey)
        }
    }

    @Test("A record that was altered, of another key, or not stored offline is none")
    func singleRecord() throws {
        let good = try record()
        #expect(try SignedRecord(jws: good.jws, key: key.verificationKey) == good)
        for (jws, key) in [(altered(good.jws), key), (good.jws, psp)] {
            #expect(throws: SignedRecordError.altered) { try SignedRecord(jws: jws, key: key.verificationKey) }
        }
        let other = try JWS.sign(Array("{}".utf8), key: key, type: SignedRecord.type)
        for jws in ["", "a.b.c", other, try record(offline: false).jws] {
            #expect(throws: SignedRecordError.unreadable) { try SignedRecord(jws: jws, key: key.verificationKey) }
        }
    }

    @Test("Acceptance test 9: a receipt that is wrong, expired, of another key or for another batch is refused")
    func receipt() throws {
        let batch = (id: "b", count: 2, hash: "aa")
        func refusal(_ receipt: BatchReceipt, by signer: SigningKey) throws -> ErrorCode? {
            BatchReceipt.refusal(
                of: try receipt.token(key: signer), for: batch, key: psp.verificationKey, now: now)
        }
        let later = now.advanced(bySeconds: 1)
        let good = BatchReceipt(batch: "b", count: 2, hash: "aa", expiresAt: later)
        #expect(try refusal(good, by: psp) == nil)
        #expect(try refusal(good, by: key) == .queueTokenInvalid)
        #expect(
            try refusal(BatchReceipt(batch: "b", count: 2, hash: "aa", expiresAt: now), by: psp) == .queueTokenExpired)
        for wrong in [
            BatchReceipt(batch: "c", count: 2, hash: "aa", expiresAt: later),
            BatchReceipt(batch: "b", count: 1, hash: "aa", expiresAt: later),
            BatchReceipt(batch: "b", count: 2, hash: "ab", expiresAt: later),
        ] {
            #expect(try refusal(wrong, by: psp) == .queueTokenMismatch)
        }
        for text in ["", "a.b.c", try record().jws] {
            #expect(
                BatchReceipt.refusal(of: text, for: batch, key: psp.verificationKey, now: now) == .queueTokenInvalid)
        }
    }

    @Test("The sandbox's published receipt key can be read")
    func sandboxKey() throws {
        #expect(SandboxReceipts.key?.isTest == true)
        let renamed = SandboxReceipts.publicJWK.replacing("test-nfc-tap-sandbox-receipts-1", with: "live-2026")
        #expect(try VerificationKey(jwk: Array(renamed.utf8)).isTest)
    }
}
