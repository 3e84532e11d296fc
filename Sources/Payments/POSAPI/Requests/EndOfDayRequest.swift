// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Body of `POST /v1/days`.
public struct EndOfDayRequest: Equatable, Sendable {
    /// What the shop calls the day; the date of today where it says nothing.
    public var label: String?
    /// Closes although something is open that the configuration holds a day open for.
    public var force: Bool?

    public init(label: String? = nil, force: Bool? = nil) {
        self.label = label
        self.force = force
    }
}

extension EndOfDayRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case label, force
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        label = members.contains(.label) ? try members.decode(String.self, forKey: .label) : nil
        if let label, !label.isOwnName(upTo: Limits.dayLabelLength) {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.label)
        }
        force = members.contains(.force) ? try members.decode(Bool.self, forKey: .force) : nil
    }
}
