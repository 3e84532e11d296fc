// SPDX-License-Identifier: Apache-2.0
import CPKCS11
import CardBytes
import Envelope
import Linux
import StrictJSON

extension LiveSession {
    /// Work in which the token's answers are thrown as they come.
    func call<Result>(
        _ work: (TokenSession) throws(TokenCode) -> Result
    ) throws(TokenFailure) -> Result {
        do throws(TokenCode) { return try work(calls) } catch { throw .code(error) }
    }

    /// The same with a key, whose attributes may not allow it.
    func call<Result>(
        _ use: TokenKeyUse, of label: String, _ work: (TokenSession) throws(TokenCode) -> Result
    ) throws(TokenFailure) -> Result {
        do throws(TokenCode) { return try work(calls) } catch {
            if error.isOfUse { throw .error(.unfitKey(label, .forbidden(use))) }
            throw error.isOfKeyType ? .error(.unfitKey(label, .otherKind)) : .code(error)
        }
    }

    /// The private or secret key, once it is known to be fit.
    mutating func key(_ key: TokenKey) throws(TokenFailure) -> FoundKey {
        if let found = keys[key] {
            guard let changed = try ready(found) else { return found }
            keys[key] = changed
            return changed
        }
        let kind = key.kind == .secret || key.kind == .des ? CKO_SECRET_KEY : CKO_PRIVATE_KEY
        let object = try object(kind, key)
        let isExtractable = try call { (calls) throws(TokenCode) in try calls.number(CKA_EXTRACTABLE, of: object) } != 0
        guard !isExtractable else { throw .error(.unfitKey(key.label, .extractable)) }
        let type = try call { (calls) throws(TokenCode) in try calls.number(CKA_KEY_TYPE, of: object) }
        var found = FoundKey(original: object)
        switch (key.kind, type) {
        case (.p256, CKK_EC), (.secret, CKK_AES), (.secret, CKK_GENERIC_SECRET), (.secret, CKK_SHA256_HMAC),
            (.des, CKK_DES2), (.des, CKK_DES3):
            break
        case (.rsa, CKK_RSA):
            found.modulus = try call { (calls) throws(TokenCode) in try calls.bytes(CKA_MODULUS, of: object) }.count
        default: throw .error(.unfitKey(key.label, .otherKind))
        }
        try look(object, key.label)
        if let changed = try ready(found) { found = changed }
        keys[key] = found
        return found
    }

    /// Notes a key that the token could show.
    private func look(_ object: CK_OBJECT_HANDLE, _ label: String) throws(TokenFailure) {
        let isSensitive = try call { (calls) throws(TokenCode) in try calls.number(CKA_SENSITIVE, of: object) } != 0
        if !isSensitive { settings.noteOpenKey(label) }
    }

    /// For how long a copy is used without a look at its key, in nanoseconds.
    private static let trust: UInt64 = 1_000_000_000

    /// Makes a key ready for work: with a copy, for a token may go to its files or its network for each use of what it keeps, and
    /// has what belongs to a session at hand. A copy outlives its key, so the key is looked at once a second.
    ///
    /// - Returns: the key as it is to be remembered; `nil` where nothing has changed.
    private func ready(_ found: FoundKey) throws(TokenFailure) -> FoundKey? {
        let now = MachineClock.awake
        var found = found
        if found.working == nil {
            found.working = calls.copy(found.original) ?? found.original
        } else {
            // What works with the key itself hears from the token that it has gone.
            guard found.object != found.original, now &- found.seen >= Self.trust else { return nil }
            // It was removed, or is not what it was: the session is made anew without its copies, and everything looked for.
            let changed = TokenCode(number: CK_RV(CKR_KEY_HANDLE_INVALID))
            do throws(TokenCode) {
                guard try calls.number(CKA_EXTRACTABLE, of: found.original) == 0 else { throw changed }
            } catch {
                throw .code(error.loss == nil ? changed : error)
            }
        }
        found.seen = now
        return found
    }

    /// HMAC-SHA-256, 32 bytes.
    mutating func code(of message: SecretBytes, _ key: TokenKey) throws(TokenFailure) -> [UInt8] {
        let found = try own(key)
        let code = try call(.sign, of: key.label) { (calls) throws(TokenCode) in
            try calls.sign(message, mechanism: CKM_SHA256_HMAC, key: found.object)
        }
        guard code.count == 32 else { throw .error(.unfitKey(key.label, .otherKind)) }
        return code
    }

    /// A key that the settings name: that it is not there says nothing of what was handed over.
    private mutating func own(_ key: TokenKey) throws(TokenFailure) -> FoundKey {
        do throws(TokenFailure) { return try self.key(key) } catch {
            if case .error(.unknownKey(let label)) = error { throw .error(.unfitKey(label, .missing)) }
            throw error
        }
    }

    /// Looks for the keys that a payment needs besides the one that opens its envelope: one that names its card, one that seals it in the books, and
    /// those of its messages.
    mutating func findOwnKeys() throws(TokenFailure) {
        for key in [settings.cardTokens].compactMap({ $0 }) + settings.needed { _ = try own(key) }
        guard let prefix = settings.books else { return }
        // An older one will do: whether a newer one has come is looked at when something is sealed.
        let latest = prefix + settings.month()
        if let known = books.keys.filter({ $0.hasPrefix(prefix) && $0 <= latest }).max() {
            _ = try book(known, prefix)
        } else {
            _ = try currentBook(prefix)
        }
    }

    private func object(_ kind: Int, _ key: TokenKey) throws(TokenFailure) -> CK_OBJECT_HANDLE {
        let found = try call { (calls) throws(TokenCode) in try calls.find(kind, label: key.label, id: key.id) }
        guard let object = found.objects.first else {
            throw .error(kind == CKO_PUBLIC_KEY ? .unfitKey(key.label, .noPublicHalf) : .unknownKey(key.label))
        }
        guard found.count == 1 else { throw .error(.unfitKey(key.label, .ambiguous)) }
        return object
    }

    /// The members of the public half's JWK but for `kid`, `use` and `alg`: `"crv":"P-256","kty":"EC",…`.
    private func publicMembers(_ key: TokenKey) throws(TokenFailure) -> String {
        let object = try object(CKO_PUBLIC_KEY, key)
        if key.kind == .rsa {
            let n = try call { (calls) throws(TokenCode) in try calls.bytes(CKA_MODULUS, of: object) }
            let e = try call { (calls) throws(TokenCode) in try calls.bytes(CKA_PUBLIC_EXPONENT, of: object) }
            let (number, exponent) = (n.drop { $0 == 0 }, e.drop { $0 == 0 })
            return #""e":"\#(Base64URL.string(exponent))","kty":"RSA","n":"\#(Base64URL.string(number))""#
        }
        var point = try call { (calls) throws(TokenCode) in try calls.bytes(CKA_EC_POINT, of: object) }
        // The standard wants it inside an OCTET STRING (PKCS#11 §2.3.3); some tokens give it bare.
        if point.count == 67, point.starts(with: [0x04, 0x41]) { point.removeFirst(2) }
        guard point.count == 65, point.first == 0x04 else { throw .error(.unfitKey(key.label, .otherKind)) }
        let (x, y) = (point[1..<33], point[33..<65])
        return #""crv":"P-256","kty":"EC","x":"\#(Base64URL.string(x))","y":"\#(Base64URL.string(y))""#
    }

    /// The JWK that envelopes for this key are sealed to. The private half was looked for, so that nobody seals to what nobody opens.
    mutating func recipient(_ key: TokenKey) throws(TokenFailure) -> RecipientKey {
        _ = try self.key(key)
        var members = #"{\#(try publicMembers(key)),"kid":\#(JSONEscape.quoted(key.keyID)),"use":"enc""#
        if let notBefore = key.notBefore { members += #","nbf":\#(notBefore)"# }
        if let expires = key.expires { members += #","exp":\#(expires)"# }
        do throws(RecipientKeyError) { return try RecipientKey(jwk: Array((members + "}").utf8)) } catch {
            throw .error(.unfitKey(key.label, .otherKind))
        }
    }

    /// The JWK that this key's signatures are verified with.
    mutating func verificationKey(_ key: TokenKey) throws(TokenFailure) -> VerificationKey {
        _ = try self.key(key)
        let jwk = #"{\#(try publicMembers(key)),"kid":\#(JSONEscape.quoted(key.keyID)),"use":"sig","alg":"ES256"}"#
        do throws(RecipientKeyError) { return try VerificationKey(jwk: Array(jwk.utf8)) } catch {
            throw .error(.unfitKey(key.label, .otherKind))
        }
    }

    // MARK: - Keys of the books

    /// The newest one that is not of a later month.
    mutating func currentBook(_ prefix: String) throws(TokenFailure) -> (label: String, key: FoundKey) {
        let latest = prefix + settings.month()
        if books[latest] != nil { return (latest, try book(latest, prefix)) }
        func newest() -> String? { books.keys.filter { $0.hasPrefix(prefix) && $0 <= latest }.max() }
        // A key of this month may have come since.
        if newest() != latest { try readBooks(prefix) }
        guard let label = newest() else { throw .error(.unfitKey(latest, .missing)) }
        return (label, try book(label, prefix))
    }

    mutating func book(_ label: String, _ prefix: String) throws(TokenFailure) -> FoundKey {
        guard label.hasPrefix(prefix) else { throw .error(.unknownKey(label)) }
        if books[label] == nil { try readBooks(prefix) }
        guard let found = books[label] else { throw .error(.unknownKey(label)) }
        guard let changed = try ready(found) else { return found }
        books[label] = changed
        return changed
    }

    private mutating func readBooks(_ prefix: String) throws(TokenFailure) {
        let all = try call { (calls) throws(TokenCode) in try calls.find(CKO_SECRET_KEY, most: 4_096) }
        var found: [String: FoundKey] = [:]
        for object in all.objects {
            let label = try call { (calls) throws(TokenCode) in try calls.bytes(CKA_LABEL, of: object) }
            let name = String(decoding: label, as: UTF8.self)
            guard name.hasPrefix(prefix) else { continue }
            guard found[name] == nil else { throw .error(.unfitKey(name, .ambiguous)) }
            let type = try call { (calls) throws(TokenCode) in try calls.number(CKA_KEY_TYPE, of: object) }
            guard type == CKK_AES else { throw .error(.unfitKey(name, .otherKind)) }
            let isExtractable = try call { (calls) throws(TokenCode) in
                try calls.number(CKA_EXTRACTABLE, of: object)
            }
            guard isExtractable == 0 else { throw .error(.unfitKey(name, .extractable)) }
            // One that is known has its copy already.
            if books[name]?.original != object { try look(object, name) }
            let known = books[name].flatMap { $0.original == object ? $0 : nil }
            found[name] = known ?? FoundKey(original: object)
        }
        // What has gone leaves no copy behind.
        for (name, old) in books where found[name]?.original != old.original && old.object != old.original {
            calls.destroy(old.object)
        }
        books = found
    }
}
