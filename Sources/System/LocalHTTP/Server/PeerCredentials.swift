// SPDX-License-Identifier: Apache-2.0
import CLinux

/// Who connected, as the kernel recorded it at connect(2) (SO_PEERCRED and SO_PEERGROUPS, unix(7)).
///
/// Authorise by `userID` and the groups. `processID` may have been reused since and is for logs only.
public struct PeerCredentials: Equatable, Sendable {
    public var processID: Int32
    public var userID: UInt32
    /// The primary group.
    public var groupID: UInt32
    /// The supplementary groups; the primary one need not be among them.
    public var supplementaryGroupIDs: [UInt32]

    /// Whoever connects by TCP, of whom the kernel knows no user: what Linux shows for users that it does not know.
    static let unknown = PeerCredentials(processID: 0, userID: 65_534, groupID: 65_534)

    public init(processID: Int32, userID: UInt32, groupID: UInt32, supplementaryGroupIDs: [UInt32] = []) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.supplementaryGroupIDs = supplementaryGroupIDs
    }

    /// Whether the peer had the group as its primary or a supplementary one.
    public func isMember(ofGroup group: UInt32) -> Bool {
        groupID == group || supplementaryGroupIDs.contains(group)
    }

    /// Asks the kernel. `nil` where the descriptor is no connected Unix stream socket.
    init?(socket: Int32) {
        var peer = clinux_peer()
        guard unsafe clinux_peer_credentials(socket, &peer) == 0 else { return nil }
        guard let groups = Self.groups(of: socket) else { return nil }
        self.init(processID: peer.pid, userID: peer.uid, groupID: peer.gid, supplementaryGroupIDs: groups)
    }

    private static func groups(of socket: Int32) -> [UInt32]? {
        // NGROUPS_MAX is 65536: the first attempt fits almost everybody, the second one everybody.
        var room: UInt32 = 64
        for _ in 0..<2 {
            var groups = [UInt32](repeating: 0, count: Int(room))
            let error = unsafe clinux_peer_groups(socket, &groups, &room)
            if error == 0 { return Array(groups.prefix(Int(room))) }
            guard error == ERANGE else { return nil }
        }
        return nil
    }
}
