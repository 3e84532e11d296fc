// SPDX-License-Identifier: Apache-2.0
public import PaymentValues
import Settings

/// `[pos]`, `[groups]`, `[credentials]` and `[refunds]`: the socket of the points of sale, and who may do what there.
public struct PointOfSaleSettings: Sendable {
    /// Not used where systemd hands a socket over.
    public var socket: String
    /// Group that may open the socket.
    public var group: String?
    /// Group of each role; a role without one is root's and the daemon's own only.
    public var roles: [Role: UInt32]
    /// `[credentials]`: whose members may charge stored cards, besides administrators; `nil` for nobody.
    public var chargers: UInt32?
    /// `[refunds]`.
    public var refunds = RefundSettings()
    public var places = ConnectionLimits()

    /// How many may be there at a time.
    public struct ConnectionLimits: Equatable, Sendable {
        /// Connections in all and of one user: more than sixty-four sales that wait, each on a connection of its own.
        public var connections = 192
        public var connectionsPerUser = 128
        /// Of all connections and streams, what monitors leave to points of sale, and these to administrators.
        public var reserved = 8
        /// Streams of events in all and of one user.
        public var streams = 48
        public var streamsPerUser = 8
        /// Connections of gateways, streams included, apart from all others.
        public var relayed = 64

        public init() {}

        /// File descriptors that a daemon with these places and `lanes` needs: as many connections again are told that they may not,
        /// a lane has its reader, its worker and its signals, and the rest is for the journal and the way to the payment service.
        func descriptors(lanes: Int) -> Int { 2 * connections + streams + relayed + 10 * lanes + 96 }
    }

    public init(socket: String, roles: [Role: UInt32]) {
        self.socket = socket
        self.roles = roles
    }

    /// What holds where nothing is written: the folder of the host, and the groups of an installed system as far as they exist.
    init(defaultsOf host: ConfigurationHost) {
        let groups: [Role: String] = [
            .admin: "nfc-tap-admin", .cashier: "nfc-tap", .loyalty: "nfc-tap-loyalty", .monitor: "nfc-tap-monitor",
            .machine: "nfc-tap-machine",
        ]
        self.init(socket: host.runtimeDirectory + "/pos.sock", roles: groups.compactMapValues(host.groupNumber))
    }
}
