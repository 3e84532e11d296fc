// SPDX-License-Identifier: Apache-2.0
/// Whether a request for an operation is only to be tried: beside what is asked for, in the same body.
public struct DryRun: Decodable, Equatable, Sendable {
    public var dryRun: Bool?

    static let members: Set<String> = ["dryRun"]
}

/// The same request with the wish that it is only tried.
public struct Tried<Demand: Encodable & Sendable>: Encodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case dryRun
    }

    public var demand: Demand

    public init(_ demand: Demand) { self.demand = demand }

    public func encode(to encoder: any Encoder) throws {
        try demand.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(true, forKey: .dryRun)
    }
}
