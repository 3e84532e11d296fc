// SPDX-License-Identifier: Apache-2.0
/// The payment service that a transaction was, or is to be, sent to. What it was asked no other one is asked about.
public struct AskedService: Codable, Hashable, Sendable {
    /// Its name: of the profile, of the configuration, or the id of the key that card data is sealed to.
    public var serviceName: String
    /// Path of its adapter's socket.
    public var socket: String

    public init(serviceName: String, socket: String) {
        self.serviceName = serviceName
        self.socket = socket
    }
}
