// SPDX-License-Identifier: Apache-2.0
import Envelope
public import PaymentValues
public import Profile

/// The content of a profile, before it has a serial and dates.
public struct ProfileDraft: Equatable, Sendable {
    /// What signing sets.
    static let set: Set<String> = ["serial", "issuedAt", "expiresAt"]
    /// Days between issue and expiry.
    public static let days: ClosedRange<Int64> = 2...35

    var content: JSONTree

    /// - Parameter json: a profile with or without serial and dates, which are taken out.
    public init(json: [UInt8], name: String) throws(IssuingError) {
        do throws(WireError) { content = try WireJSON.decode(JSONTree.self, from: json) } catch {
            throw .notJSON(name)
        }
        guard case .object = content else { throw .notJSON(name) }
        for member in Self.set { content[member] = nil }
    }

    init(_ content: JSONTree) {
        self.content = content
        for member in Self.set { self.content[member] = nil }
    }

    public var merchant: String? { content["merchant"]?["id"]?.text }

    /// The contract has ended.
    public func revoked() -> ProfileDraft {
        var draft = self
        var terms = content["terms"] ?? .object([:])
        terms["revoked"] = .flag(true)
        draft.content["terms"] = terms
        return draft
    }

    /// The payload, once it is a profile that a daemon takes and that this tool signs.
    public func payload(
        serial: UInt64, issuedAt: Timestamp, days: Int64, refusedKeys: RefusedKeys = .areWrong
    ) throws(IssuingError) -> (bytes: [UInt8], profile: Profile) {
        var whole = content
        // A serial is at most 2^53 - 1, as the room Profile has it.
        whole["serial"] = .number(Int64(clamping: serial))
        // A fraction of a second is nobody's business.
        let issued = Timestamp(milliseconds: issuedAt.milliseconds / 1_000 * 1_000)
        whole["issuedAt"] = .text(issued.description)
        whole["expiresAt"] = .text(issued.advanced(bySeconds: days * 86_400).description)
        let bytes: [UInt8]
        do throws(WireError) { bytes = try WireJSON.encode(whole) } catch { throw .notJSON("profile") }
        return (bytes, try Self.check(bytes, refusedKeys))
    }

    /// What becomes of a profile with recipient keys that tills pass over.
    public enum RefusedKeys: Sendable {
        case areWrong
        /// They are there for tills that are newer.
        case areMeant
    }

    /// Every rule: what a daemon checks, and what somebody who signs has to look at besides.
    public static func check(_ json: [UInt8], _ refusedKeys: RefusedKeys = .areWrong) throws(IssuingError) -> Profile {
        let profile: Profile
        do throws(ProfileError) { profile = try Profile(json: json) } catch { throw .profile(error) }
        let seconds = (profile.expiresAt.milliseconds - profile.issuedAt.milliseconds) / 1_000
        guard (days.lowerBound * 86_400...days.upperBound * 86_400).contains(seconds) else {
            throw .lifetime(days: seconds / 86_400)
        }
        let refusals = profile.recipientKeys.refusals
        if refusedKeys == .areWrong, !refusals.isEmpty { throw .refusedKeys(refusals) }
        if profile.isLive {
            for key in profile.recipientKeys.keys where key.isTest { throw .testKey(key.keyID) }
            if let key = profile.receiptTokenKey, key.isTest { throw .testKey(key.keyID) }
        }
        return profile
    }

    // MARK: - What changes

    /// Each place that differs, as `place: before → after`; a dash for what is not there.
    public static func differences(_ old: [UInt8], _ new: [UInt8]) throws(IssuingError) -> [String] {
        func leaves(_ json: [UInt8], _ name: String) throws(IssuingError) -> [String: String] {
            let tree: JSONTree
            do throws(WireError) { tree = try WireJSON.decode(JSONTree.self, from: json) } catch {
                throw .notJSON(name)
            }
            return Dictionary(tree.leaves.map { ($0.place, $0.value) }, uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (try leaves(old, "the first one"), try leaves(new, "the second one"))
        return Set(before.keys).union(after.keys).sorted().compactMap { place in
            before[place] == after[place] ? nil : "\(place): \(before[place] ?? "–") → \(after[place] ?? "–")"
        }
    }
}
