// SPDX-License-Identifier: Apache-2.0
public import Wire

/// `[pos]` and `[groups]`: the socket of the points of sale, and who may do what there.
public struct PointOfSaleSettings: Sendable {
    /// Not used where systemd hands a socket over.
    public var socket: String
    /// Group that may open the socket.
    public var group: String?
    /// Group of each role; a role without one is root's and the daemon's own only.
    public var roles: [Role: UInt32]

    public init(socket: String, roles: [Role: UInt32]) {
        self.socket = socket
        self.roles = roles
    }
}
