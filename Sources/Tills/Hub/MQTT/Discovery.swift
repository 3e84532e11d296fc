// SPDX-License-Identifier: Apache-2.0
import StrictJSON

/// The document by which Home Assistant finds a lane as a tag scanner (MQTT discovery, component `tag`).
package struct Discovery: Equatable, Sendable {
    /// `homeassistant`, unless the house has another one.
    package var prefix: String
    package var lane: String

    package init(prefix: String, lane: String) { (self.prefix, self.lane) = (prefix, lane) }

    package var topic: String { "\(prefix)/tag/nfc-tap_\(Self.object(lane))/config" }

    /// - Parameter taps: the topic of the lane's taps.
    package func payload(taps: String) -> String {
        let name = JSONEscape.quoted("nfc-tap_\(Self.object(lane))")
        return "{\"topic\": \(JSONEscape.quoted(taps)), \"value_template\": \"{{ value_json.tag }}\", \"qos\": 1, "
            + "\"device\": {\"identifiers\": [\(name)], \"name\": \(JSONEscape.quoted("nfc-tap \(lane)")), "
            + "\"manufacturer\": \"nfc-tap\"}}"
    }

    /// Letters, digits, dashes and underlines: what Home Assistant takes in an object's id.
    private static func object(_ lane: String) -> String {
        String(
            decoding: lane.utf8.map { byte -> UInt8 in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): byte
                default: UInt8(ascii: "_")
                }
            }, as: UTF8.self)
    }
}
