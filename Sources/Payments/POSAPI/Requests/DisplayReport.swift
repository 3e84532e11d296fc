// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Body of `POST /v1/displays`: on which lanes the customer is shown the amount.
public struct DisplayReport: Equatable, Sendable {
    /// At most 256.
    public var lanes: [String]

    public init(lanes: [String]) { self.lanes = lanes }
}

extension DisplayReport: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case lanes
    }

    /// - Throws: `request.invalid_field` for more than 256 lanes, or a name that is none.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        lanes = try members.decode([String].self, forKey: .lanes)
        guard lanes.count <= 256, lanes.allSatisfy({ $0.isReference(upTo: Limits.orderLength) }) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.lanes)
        }
    }
}
