// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Body of `POST /v1/refusals`: what a gateway has refused since it last said so.
public struct RefusalReport: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public var code: ErrorCode
        /// Whose till it was, where it is one of the gateway's.
        public var till: TillName?
        /// At least 1.
        public var count: Int

        public init(code: ErrorCode, till: TillName? = nil, count: Int) {
            self.code = code
            self.till = till
            self.count = count
        }
    }

    /// 1 to 64.
    public var refusals: [Entry]

    public init(refusals: [Entry]) { self.refusals = refusals }
}

extension RefusalReport: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case refusals
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        refusals = try members.decode([Entry].self, forKey: .refusals)
        guard (1...64).contains(refusals.count) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.refusals)
        }
    }
}

extension RefusalReport.Entry: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case code, till, count
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        code = try members.decode(ErrorCode.self, forKey: .code)
        till = try members.decodeIfPresent(TillName.self, forKey: .till)
        count = try members.decodeWhole(Int.self, forKey: .count)
        guard count > 0 else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.count) }
    }
}
