// SPDX-License-Identifier: Apache-2.0
/// The data field of an answer in a secure session: `nrs`, `srs` or `psr`.
public struct SmartTapResponse: Equatable, Sendable {
    public enum Kind: Sendable, CaseIterable {
        case negotiate, getData, push
    }

    public let session: SmartTapSession
    /// `dpk`: the phone's ephemeral key as received, not yet checked to be a point. Only after NEGOTIATE.
    public let devicePoint: [UInt8]?
    /// `reb`: flags and body. Only after GET DATA, and not always.
    public let bundlePayload: [UInt8]?

    /// - Returns: `nil` where the NDEF message, its one record or the session record in it is missing or damaged.
    public init?(_ kind: Kind, _ data: [UInt8]) {
        let bytes = data.span
        do throws(NDEFError) {
            let outer = try NDEF.records(bytes)
            let name: StaticString =
                switch kind {
                case .negotiate: "nrs"
                case .getData: "srs"
                case .push: "psr"
                }
            guard let response = outer.first, response.isNamed(name, in: bytes) else { return nil }
            let records = try NDEF.records(bytes, in: response.payload)
            func payload(_ name: StaticString) -> [UInt8]? {
                records.first { $0.isNamed(name, in: data.span) }.map { Array(data[$0.payload]) }
            }
            guard let session = payload("ses").flatMap({ SmartTapSession(payload: $0) }) else { return nil }
            self.session = session
            devicePoint = payload("dpk")
            bundlePayload = payload("reb")
        } catch {
            return nil
        }
    }
}

extension SmartTapResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Smart Tap response, session status \(session.status)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
