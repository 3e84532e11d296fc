// SPDX-License-Identifier: Apache-2.0
public import Configuration
import Glibc
import Linux
public import LocalHTTP
public import PaymentValues

/// Which roles a peer has, by what the kernel says of it. Nothing that a client sends counts, except what a gateway says
/// of its till.
public struct Access: Equatable, Sendable {
    /// Groups of each role; a role without a group is root's and the daemon's own only.
    public var groups: [Role: UInt32]
    /// The daemon's own user: an administrator, as root is.
    public var owner: UInt32
    /// Who may charge stored cards, besides administrators; `nil` for nobody.
    public var chargers: UInt32?
    /// Who may speak for tills; `nil` for nobody.
    public var gateway: GatewaySettings?
    /// The group whose program starts what a backend asks for; `nil` for nobody.
    public var remote: RemoteSettings?
    /// Who may give back what.
    public var refunds = RefundSettings()

    /// - Parameter owner: the daemon's own user; `nil` for that of this process.
    public init(groups: [Role: UInt32], owner: UInt32? = nil, gateway: GatewaySettings? = nil, chargers: UInt32? = nil)
    {
        self.groups = groups
        self.chargers = chargers
        self.gateway = gateway
        self.owner = owner ?? geteuid()
    }

    /// The owner may do everything, nobody else anything: for a daemon in a private folder.
    public static var ownerOnly: Access { Access(groups: [:]) }

    /// What the daemon asks for by itself, it asks for as its own user.
    var ownPrincipal: Principal { Principal(uid: owner) }

    public func roles(of peer: PeerCredentials) -> Set<Role> {
        if peer.userID == 0 || peer.userID == owner { return Set(Role.allCases) }
        var roles = Set(groups.filter { peer.isMember(ofGroup: $0.value) }.keys)
        // Whoever may change everything may also take a payment, and whoever takes one sees how the lanes are.
        if roles.contains(.admin) { roles.formUnion([.cashier, .loyalty, .machine]) }
        if !roles.isEmpty || mayCharge(peer) { roles.insert(.monitor) }
        return roles
    }

    /// Whether a peer may charge stored cards, and see their tokens.
    func mayCharge(_ peer: PeerCredentials) -> Bool {
        peer.userID == 0 || peer.userID == owner
            || [chargers, groups[.admin]].compactMap(\.self).contains { peer.isMember(ofGroup: $0) }
    }

    /// What a peer of `[remote]`'s group may do, whatever other groups it is in; `nil` for every other peer, root and the daemon's
    /// own user among them.
    func remoteOnly(_ peer: PeerCredentials) -> RemoteSettings? {
        guard peer.userID != 0, peer.userID != owner else { return nil }
        return remote.flatMap { peer.isMember(ofGroup: $0.group) ? $0 : nil }
    }

    /// Who gets a connection where not everybody does.
    func standing(of peer: PeerCredentials) -> PeerStanding {
        // A program that was taken over takes no till's place.
        if remoteOnly(peer) != nil { return .watching }
        if let gateway, peer.isMember(ofGroup: gateway.group) { return .relaying }
        let roles = roles(of: peer)
        if roles.contains(.admin) { return .administering }
        if !roles.isDisjoint(with: [.cashier, .loyalty, .machine]) || mayCharge(peer) { return .working }
        return roles.isEmpty ? .none : .watching
    }
}
