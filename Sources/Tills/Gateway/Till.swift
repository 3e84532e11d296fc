// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// What a till may do at the gateway. None of them is an administrator.
public enum TillRole: String, Codable, CaseIterable, Sendable {
    case cashier, loyalty, monitor
    /// A cashier who also closes the shop's day, and gives money back without naming its sale.
    case manager
    /// Sees the customer's view of its lane, and nothing else.
    case display
}

/// One till, as `tills.json` has it. It has a stored property for each member.
public struct Till: Codable, Equatable, Sendable {
    /// A token that was given out and has not been used yet.
    struct NextToken: Codable, Equatable, Sendable {
        var hash: String
        /// Until then both tokens hold.
        var until: Timestamp

        enum CodingKeys: String, CodingKey, CaseIterable { case hash, until }

        init(hash: String, until: Timestamp) { (self.hash, self.until) = (hash, until) }

        init(from decoder: any Decoder) throws {
            let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
            hash = try members.decode(String.self, forKey: .hash)
            until = try members.decode(Timestamp.self, forKey: .until)
        }
    }

    /// Its name, as `TillName` has it.
    public var till: String
    /// SHA-256 of the token's 32 secret bytes, in hexadecimal.
    var hash: String
    var next: NextToken?
    /// The administrator wants its token changed.
    var rotating: Bool?
    public var roles: [TillRole]
    /// The first is the one for requests that name none.
    public var lanes: [String]
    public var types: [TransactionType]
    /// Pages of others from which it may speak; the gateway's own pages, and programs, always may.
    public var origins: [String]
    public var createdAt: Timestamp
    /// `2026-11-24`
    public var lastUsedOn: String?
    public var revokedAt: Timestamp?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case till, hash, next, rotating, roles, lanes, types, origins, createdAt, lastUsedOn, revokedAt
    }

    /// Its roles, with those that they bring along.
    var powers: Set<TillRole> { Set(roles).union(roles.contains(.manager) ? [.cashier] : []) }

    /// The roles that the daemon knows, as its header has them: what a manager has besides a cashier's is the gateway's own.
    var rolesAtDaemon: String {
        TillRole.allCases.filter { powers.contains($0) && ![.display, .manager].contains($0) }.map(\.rawValue)
            .joined(separator: ", ")
    }
}

extension Till {
    /// - Throws: for a member that it does not know: `revokedAt` with one wrong letter is no till in use.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        till = try members.decode(String.self, forKey: .till)
        hash = try members.decode(String.self, forKey: .hash)
        next = try members.decodeIfPresent(NextToken.self, forKey: .next)
        rotating = try members.decodeIfPresent(Bool.self, forKey: .rotating)
        roles = try members.decode([TillRole].self, forKey: .roles)
        lanes = try members.decode([String].self, forKey: .lanes)
        types = try members.decode([TransactionType].self, forKey: .types)
        origins = try members.decode([String].self, forKey: .origins)
        createdAt = try members.decode(Timestamp.self, forKey: .createdAt)
        lastUsedOn = try members.decodeIfPresent(String.self, forKey: .lastUsedOn)
        revokedAt = try members.decodeIfPresent(Timestamp.self, forKey: .revokedAt)
    }
}

/// What a till is to become once its code comes.
public struct TillDraft: Codable, Equatable, Sendable {
    public var till: String
    public var roles: [TillRole]
    public var lanes: [String]
    public var types: [TransactionType]
    public var origins: [String]

    public init(
        till: String, roles: [TillRole], lanes: [String], types: [TransactionType] = [], origins: [String] = []
    ) {
        self.till = till
        self.roles = roles
        self.lanes = lanes
        self.types = types
        self.origins = origins
    }

    /// Which page it is, and how it is called where nobody gives it a name.
    var kind: String { roles == [.display] ? "display" : "till" }

    /// What keeps it from becoming a till: the name of the option, and what to write.
    public func fault(allowedOrigins: Set<String>) -> (option: String, remedy: String)? {
        if TillName(till) == nil { return ("till", "write 1 to 32 of a-z, 0-9 and -, with a letter first") }
        if roles.isEmpty { return ("role", "name at least one of cashier, manager, loyalty, monitor and display") }
        if roles.contains(.display), roles.count > 1 || lanes.count != 1 {
            return ("role", "give a display this role alone and one lane")
        }
        if lanes.isEmpty || !lanes.allSatisfy({ (1...32).contains($0.utf8.count) }) {
            return ("lane", "name a lane of nfc-tapd.toml")
        }
        if let other = origins.first(where: { !allowedOrigins.contains($0) }) {
            return ("origin", "add \(other) to origins in nfc-tap-gateway.toml first")
        }
        return nil
    }
}
