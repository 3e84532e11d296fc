// SPDX-License-Identifier: Apache-2.0
/// The `ses` record: which session, which message of it, and how it went.
public struct SmartTapSession: Equatable, Sendable {
    /// 8 bytes.
    public let id: [UInt8]
    public let sequence: UInt8
    /// 01 means OK; a status word 9000 does not say so.
    public let status: UInt8

    public init(id: [UInt8], sequence: UInt8, status: UInt8 = SmartTapSession.ok) {
        self.id = id
        self.sequence = sequence
        self.status = status
    }

    /// - Returns: `nil` unless `payload` is 10 bytes.
    init?(payload: some Collection<UInt8>) {
        let bytes = Array(payload)
        guard bytes.count == 10 else { return nil }
        self.init(id: Array(bytes[0..<8]), sequence: bytes[8], status: bytes[9])
    }

    public static let ok: UInt8 = 0x01
    /// The message is to be sent again.
    public static let resend: UInt8 = 0x08
    /// The phone has to fetch the pass first.
    public static let notAvailableYet: UInt8 = 0x09

    public var payload: [UInt8] { id + [sequence, status] }
}
