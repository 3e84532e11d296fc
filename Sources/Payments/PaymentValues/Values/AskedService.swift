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

extension AskedService {
    private enum CodingKeys: String, CodingKey { case serviceName, socket }

    /// The name in journals that were written before 2026-11-28.
    private enum FormerKeys: String, CodingKey { case serviceName = "issuer" }

    /// Reads what was written now, or with the name's former key.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let former = try decoder.container(keyedBy: FormerKeys.self)
        serviceName =
            try members.decodeIfPresent(String.self, forKey: .serviceName)
            ?? former.decode(String.self, forKey: .serviceName)
        socket = try members.decode(String.self, forKey: .socket)
    }
}
