// SPDX-License-Identifier: Apache-2.0
/// Who gets in where not everybody does: each standing leaves `HTTPLimits.reserved` places to the one above it.
public enum PeerStanding: Int, CaseIterable, Sendable {
    /// Has no business here: is told so, and takes no place.
    case none
    case watching, working, administering
    /// Speaks for others: its connections are counted apart, up to `HTTPLimits.relayed`.
    case relaying

    /// What is left of `all` for this standing.
    func share(of all: Int, reserved: Int) -> Int {
        max(0, all - reserved * (PeerStanding.administering.rawValue - rawValue))
    }
}
