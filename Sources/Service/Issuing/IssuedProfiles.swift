// SPDX-License-Identifier: Apache-2.0
public import Envelope
import Glibc
import Linux
public import PaymentValues
public import Profile
import StoreAndForward

/// The profiles that were issued, in a folder: `MERCHANT/SERIAL.json` is what was signed, `MERCHANT/SERIAL.jws` the one token that there
/// is of it. A daemon refuses a second token of a serial with other content, and ECDSA gives another token each time: so the token is
/// kept, and the kept one is served.
public final class IssuedProfiles: Sendable {
    private let folder: String
    /// Held for as long as this lives, so that a serial is given once.
    private let lock: Descriptor

    public init(_ folder: String) throws(IssuingError) {
        do throws(SystemError) {
            if !FileSystem.exists(folder) { try DurableFile.makeFolder(folder) }
            lock = try Descriptor(opening: folder + "/lock", O_RDWR | O_CREAT, mode: 0o600)
        } catch {
            throw .file(folder, errno: error.code)
        }
        self.folder = folder
        guard lock.lock() else { throw .storeInUse }
    }

    /// One profile as it was issued.
    public struct Issued: Sendable {
        public let profile: Profile
        public let payload: [UInt8]
        public let token: String
    }

    public var merchants: [String] {
        (FileSystem.entries(folder) ?? []).filter { $0 != "lock" && !serials($0).isEmpty }.sorted()
    }

    private func serials(_ merchant: String) -> [UInt64] { Self.serials(merchant, folder) }

    private static func serials(_ merchant: String, _ folder: String) -> [UInt64] {
        (FileSystem.entries("\(folder)/\(merchant)") ?? []).compactMap { name in
            name.hasSuffix(".json") ? UInt64(name.dropLast(5)) : nil
        }.sorted()
    }

    /// The last profile whose token is there.
    public func latest(_ merchant: String) throws(IssuingError) -> Issued? { try Self.latest(merchant, in: folder) }

    /// The same for whoever only serves what is there: it needs no lock, because a token is there whole or not at all.
    public static func latest(_ merchant: String, in folder: String) throws(IssuingError) -> Issued? {
        try check(name: merchant)
        for serial in serials(merchant, folder).reversed() {
            let path = "\(folder)/\(merchant)/\(serial)"
            // A serial without a token was given away by somebody who died before it was signed.
            guard FileSystem.exists(path + ".jws") else { continue }
            let payload = try Self.read(path + ".json")
            let token = String(decoding: try Self.read(path + ".jws"), as: UTF8.self)
            let profile: Profile
            do throws(ProfileError) { profile = try Profile(json: payload) } catch { throw .profile(error) }
            return Issued(profile: profile, payload: payload, token: token.filter { $0 != "\n" })
        }
        return nil
    }

    /// Gives the draft a serial and dates, signs it and keeps the token.
    ///
    /// - Parameter serial: `nil` for the next one.
    public func issue(
        _ draft: ProfileDraft, serial: UInt64? = nil, at now: Timestamp, days: Int64, key: ProfileSigningKey,
        proof: RecipientProof, refusedKeys: ProfileDraft.RefusedKeys = .areWrong
    ) async throws(IssuingError) -> Issued {
        let merchant = draft.merchant ?? ""
        // A draft without a merchant is refused by its member, not by a folder's name.
        _ = try draft.payload(serial: 1, issuedAt: now, days: days, refusedKeys: refusedKeys)
        try Self.check(name: merchant)
        if let last = try latest(merchant)?.profile.issuedAt, last > now { throw .clock(last: last) }
        let highest = serials(merchant).last ?? 0
        let number = serial ?? highest + 1
        guard number > highest else { throw .serialUsed(number) }
        let (payload, profile) = try draft.payload(
            serial: number, issuedAt: now, days: days, refusedKeys: refusedKeys)
        let own = try await key.verificationKey()
        if profile.isLive, own.isTest { throw .testKey(own.keyID) }
        try await proof.prove(profile.recipientKeys.keys)

        let place = "\(folder)/\(merchant)"
        if !FileSystem.exists(place) {
            do throws(SystemError) { try DurableFile.makeFolder(place) } catch { throw .file(place, errno: error.code) }
        }
        // From here on the serial is used, whatever happens.
        try Self.write(payload, to: "\(place)/\(number).json")
        let token = try await key.sign(payload, type: SignedProfile.type)
        // What a daemon does with it.
        do throws(ProfileError) { _ = try SignedProfile(token: token, key: own) } catch { throw .profile(error) }
        let path = "\(place)/\(number).jws"
        do throws(SystemError) {
            try DurableFile.replace(path, with: Array((token + "\n").utf8).span, mode: 0o644)
        } catch {
            throw .file(path, errno: error.code)
        }
        return Issued(profile: profile, payload: payload, token: token)
    }

    /// The same content with a new serial and dates, for whoever has a profile that ends before `limit`; the others keep theirs.
    public func renew(
        before limit: Timestamp, at now: Timestamp, days: Int64, key: ProfileSigningKey, proof: RecipientProof,
        refusedKeys: ProfileDraft.RefusedKeys = .areWrong
    ) async throws(IssuingError) -> [Issued] {
        var renewed: [Issued] = []
        for merchant in merchants {
            guard let last = try latest(merchant), last.profile.expiresAt < limit else { continue }
            let draft = try ProfileDraft(json: last.payload, name: merchant)
            renewed.append(
                try await issue(draft, at: now, days: days, key: key, proof: proof, refusedKeys: refusedKeys))
        }
        return renewed
    }

    public func revoke(
        _ merchant: String, at now: Timestamp, days: Int64, key: ProfileSigningKey, proof: RecipientProof
    ) async throws(IssuingError) -> Issued {
        guard let last = try latest(merchant) else { throw .noProfile(merchant: merchant) }
        let draft = try ProfileDraft(json: last.payload, name: merchant).revoked()
        // A contract ends whatever its keys are.
        return try await issue(draft, at: now, days: days, key: key, proof: proof, refusedKeys: .areMeant)
    }

    /// Somebody has accepted the terms elsewhere: the file that `nfc-tap terms import` takes.
    public func acceptance(
        _ merchant: String, by name: String, at now: Timestamp, key: ProfileSigningKey
    ) async throws(IssuingError) -> String {
        guard let last = try latest(merchant) else { throw .noProfile(merchant: merchant) }
        let tree = JSONTree.object([
            "version": .number(1), "merchant": .text(merchant), "termsHash": .text(last.profile.terms.hash),
            "acceptedBy": .text(name), "acceptedAt": .text(now.description),
        ])
        let payload: [UInt8]
        do throws(WireError) { payload = try WireJSON.encode(tree) } catch { throw .notJSON("acceptance") }
        let token = try await key.sign(payload, type: AcceptanceFile.type)
        let own = try await key.verificationKey()
        do throws(ProfileError) { _ = try AcceptanceFile(token: token, key: own, for: last.profile) } catch {
            throw .profile(error)
        }
        return token
    }

    // MARK: - Files

    private static func check(name: String) throws(IssuingError) {
        let isPlain = name.utf8.allSatisfy { unit in
            switch unit {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            default: false
            }
        }
        guard isPlain, (1...64).contains(name.utf8.count), !name.hasPrefix("."), name != "lock" else {
            throw .merchantName(name)
        }
    }

    private static func read(_ path: String) throws(IssuingError) -> [UInt8] {
        do throws(SystemError) { return try FileSystem.bytes(of: path, atMost: 4 << 20) } catch {
            throw .file(path, errno: error.code)
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(IssuingError) {
        do throws(SystemError) { try DurableFile.create(path, with: bytes.span, mode: 0o644) } catch {
            throw .file(path, errno: error.code)
        }
    }
}

/// A payment service's word that it has a batch.
public enum BatchReceipts {
    /// - Parameters:
    ///   - batch: what `nfc-tap queue export` gave.
    ///   - installation: the key that this installation is known by.
    ///   - hours: how long the receipt may be used.
    public static func sign(
        _ batch: [UInt8], of installation: VerificationKey, key: ProfileSigningKey, at now: Timestamp, hours: Int64
    ) async throws(IssuingError) -> String {
        let content: QueueBatch
        let receipt: BatchReceipt
        do throws(WireError) { content = try WireJSON.decode(QueueBatch.self, from: batch) } catch {
            throw .notJSON("the batch")
        }
        do throws(SignedRecordError) {
            let records = try SignedBatch.verify(
                signature: content.signature, records: content.records, key: installation)
            receipt = BatchReceipt(
                batch: content.id, count: records.count, hash: SignedBatch.hash(of: content.records),
                expiresAt: now.advanced(bySeconds: hours * 3_600))
        } catch {
            throw .batch
        }
        let payload: [UInt8]
        do throws(WireError) { payload = try WireJSON.encode(receipt) } catch { throw .notJSON("the receipt") }
        return try await key.sign(payload, type: BatchReceipt.type)
    }
}
