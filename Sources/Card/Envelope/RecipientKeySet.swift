// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// The recipient keys a PSP publishes or an administrator pins: a JWKS (RFC 7517 §5) or a single JWK.
public struct RecipientKeySet: Equatable, Sendable {
    /// A key of the set that is not used.
    public struct Refusal: Equatable, Sendable {
        /// Place in the set, from 0.
        public let position: Int
        /// The key's `kid`, if that can be read.
        public let keyID: String?
        public let reason: RecipientKeyError

        package init(position: Int, keyID: String?, reason: RecipientKeyError) {
            (self.position, self.keyID, self.reason) = (position, keyID, reason)
        }

        /// Place and `kid`, as people look for it in the file. A text of somebody else's is quoted, and cut to 64 characters.
        public var name: String {
            "keys[\(position)]" + (keyID.map { " \(String($0.prefix(64)).debugDescription)" } ?? "")
        }
    }

    /// The usable keys in the order of the set, which is the PSP's order of preference.
    public let keys: [RecipientKey]
    /// Keys of other kinds are passed over, as RFC 7517 §5 wants it, but not silently.
    public let refusals: [Refusal]

    public init(keys: [RecipientKey]) { self.init(keys: keys, refusals: []) }

    private init(keys: [RecipientKey], refusals: [Refusal]) {
        self.keys = keys
        self.refusals = refusals
    }

    /// - Throws: for a single JWK its own refusal; for a set `.privateKeyInSet` for a private half in any of its keys, which nobody
    ///   may pass over, and `.noUsableKey` or `.allRefused` where no key is left.
    public init(json: [UInt8]) throws(RecipientKeyError) {
        let index = try RecipientKey.index(json)
        let span = json.span
        guard let list = index.index(of: "keys", in: 0, span) else {
            self.init(keys: [try RecipientKey(index, object: 0, span)])
            return
        }
        guard index.nodes[list].kind == .array else { throw .malformedMember("keys") }
        var keys: [RecipientKey] = []
        var refusals: [Refusal] = []
        for (position, object) in index.children(of: list).enumerated() {
            do throws(RecipientKeyError) {
                keys.append(try RecipientKey(index, object: object, span))
            } catch {
                let keyID = index.member("kid", of: object, in: span).flatMap { index.string($0, in: span) }
                let refusal = Refusal(position: position, keyID: keyID, reason: error)
                if error == .privateKey { throw .privateKeyInSet(refusal.name) }
                refusals.append(refusal)
            }
        }
        guard !keys.isEmpty else { throw refusals.isEmpty ? .noUsableKey : .allRefused(refusals) }
        self.init(keys: keys, refusals: refusals)
    }

    /// The set as JSON: `{"keys":[…]}`.
    public var jwks: String { #"{"keys":["# + keys.map(\.jwk).joined(separator: ",") + "]}" }

    /// The first key that is valid at `now`, in seconds since 1970.
    ///
    /// - Throws: why the last candidate is not valid, or `.noUsableKey` for an empty set.
    public func key(at now: UInt64) throws(RecipientKeyError) -> RecipientKey {
        var reason = RecipientKeyError.noUsableKey
        for key in keys {
            do throws(RecipientKeyError) {
                try key.checkPeriod(at: now)
                return key
            } catch {
                reason = error
            }
        }
        throw reason
    }
}

extension RecipientKeySet.Refusal: CustomStringConvertible {
    public var description: String { "\(name): \(reason)" }
}
