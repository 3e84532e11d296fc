// SPDX-License-Identifier: Apache-2.0
/// The member of a request for an operation that says whether it is only to be tried.
enum DryRun {
    static let members: Set<String> = ["dryRun"]
}

/// A request for an operation, and whether it is only to be tried: in the same body.
public struct Tried<Demand: Sendable>: Sendable {
    private enum CodingKeys: String, CodingKey {
        case dryRun
    }

    public var demand: Demand
    public var dryRun: Bool

    public init(_ demand: Demand, dryRun: Bool = true) {
        self.demand = demand
        self.dryRun = dryRun
    }
}

extension Tried: Encodable where Demand: Encodable {
    public func encode(to encoder: any Encoder) throws {
        try demand.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(dryRun, forKey: .dryRun)
    }
}

extension Tried: Decodable where Demand: Decodable {
    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        demand = try Demand(from: decoder)
        dryRun = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(Bool.self, forKey: .dryRun) ?? false
    }
}
