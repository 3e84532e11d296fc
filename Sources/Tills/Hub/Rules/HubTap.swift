// SPDX-License-Identifier: Apache-2.0
package import PaymentValues
import StrictJSON

/// A pass that may leave, and how it is written for each output.
package struct HubTap: Equatable, Sendable {
    /// Of this pass of this tap, for whoever gets it twice.
    package var id: String
    package var lane: String
    package var programme: String
    package var kind: HubRule.Kind
    package var member: String
    package var isAuthentic: Bool
    package var time: Timestamp

    package init(
        id: String, lane: String, programme: String, kind: HubRule.Kind, member: String, isAuthentic: Bool,
        time: Timestamp
    ) {
        (self.id, self.lane, self.programme, self.kind) = (id, lane, programme, kind)
        (self.member, self.isAuthentic, self.time) = (member, isAuthentic, time)
    }

    /// For Home Assistant's tag scanners: `{"id":…,"tag":…}`.
    package var message: String { "{\"id\":\(JSONEscape.quoted(id)),\"tag\":\(JSONEscape.quoted(member))}" }

    /// The body of a webhook, by the names of Standard Webhooks.
    package var body: String {
        let isPass = kind == .apple || kind == .google
        let data =
            "\"id\":\(JSONEscape.quoted(id)),\"lane\":\(JSONEscape.quoted(lane)),\"kind\":\"\(kind.rawValue)\","
            + "\"programme\":\(JSONEscape.quoted(programme)),\"\(isPass ? "member" : "tag")\":\(JSONEscape.quoted(member))"
            + (isPass ? ",\"authentic\":\(isAuthentic)" : "")
        return "{\"type\":\"\(isPass ? "pass" : "tag").read\",\"timestamp\":\"\(time)\",\"data\":{\(data)}}"
    }
}
