// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// The wish for passes in a request: alone (`type` is `loyalty`), or in the same tap as a payment.
public struct LoyaltyOptions: Equatable, Sendable {
    /// Ids of programmes as the daemon's configuration names them; `nil` for all of them.
    public var programmes: [String]?
    /// With a payment only: the first of pass and card ends the tap. `false` if not given.
    public var stopOnPass: Bool?

    public init(programmes: [String]? = nil, stopOnPass: Bool? = nil) {
        self.programmes = programmes
        self.stopOnPass = stopOnPass
    }
}

extension LoyaltyOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case programmes, stopOnPass
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        programmes = try members.decodeIfPresent([String].self, forKey: .programmes)
        stopOnPass = try members.decodeIfPresent(Bool.self, forKey: .stopOnPass)
        if let programmes {
            guard (1...Limits.programmes).contains(programmes.count), Set(programmes).count == programmes.count,
                programmes.allSatisfy({ $0.isReference(upTo: Limits.programmeLength) })
            else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.programmes) }
        }
    }
}
