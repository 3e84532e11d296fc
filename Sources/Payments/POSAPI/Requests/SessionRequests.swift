// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Body of `PUT /v1/lanes/{lane}/standing`: what is left out stays as it is.
public struct StandingRequest: Equatable, Sendable {
    public var armed: Bool?
    /// What a tap asks for from now on, in minor units of the lane's currency.
    public var amount: Int64?

    public init(armed: Bool? = nil, amount: Int64? = nil) { (self.armed, self.amount) = (armed, amount) }
}

extension StandingRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case armed, amount }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        armed = members.contains(.armed) ? try members.decode(Bool.self, forKey: .armed) : nil
        amount = members.contains(.amount) ? try members.decodeWhole(Int64.self, forKey: .amount) : nil
        if let amount, amount < 1 { throw decoder.refusal(.amountTotalNotPositive, at: CodingKeys.amount) }
    }
}

/// Body of `POST /v1/sessions/{id}/claim`.
public struct ClaimRequest: Equatable, Sendable {
    /// The machine's own name for the session: 1 to 64 visible characters.
    public var reference: String

    public init(reference: String) { self.reference = reference }
}

extension ClaimRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case reference }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        reference = try members.decode(String.self, forKey: .reference)
        guard reference.isOwnName(upTo: Limits.orderLength) else {
            throw decoder.refusal(.requestInvalidField, at: CodingKeys.reference)
        }
    }
}

/// Body of `POST /v1/sessions/{id}/commit`.
public struct CommitRequest: Equatable, Sendable {
    /// What was used, in minor units of the session's currency; 0 gives all of it back.
    public var amount: Int64
    /// Takes what is held where that is less, and says how much is missing.
    public var upTo: Bool

    public init(amount: Int64, upTo: Bool = false) { (self.amount, self.upTo) = (amount, upTo) }
}

extension CommitRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case amount, upTo }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        amount = try members.decodeWhole(Int64.self, forKey: .amount)
        upTo = members.contains(.upTo) ? try members.decode(Bool.self, forKey: .upTo) : false
        guard amount >= 0 else { throw decoder.refusal(.requestInvalidField, at: CodingKeys.amount) }
        guard amount <= Limits.amount else { throw decoder.refusal(.amountTooLarge, at: CodingKeys.amount) }
    }
}

/// Body of `POST /v1/sessions/{id}/keep`.
public struct KeepRequest: Codable, Equatable, Sendable {
    /// From now on; at most as long as the lane's `release-minutes`.
    public var seconds: Int

    public init(seconds: Int) { self.seconds = seconds }

    private enum CodingKeys: String, CodingKey, CaseIterable { case seconds }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        seconds = try decoder.only(CodingKeys.seconds, below: .requestInvalidField)
    }
}

/// Body of `POST /v1/sessions/{id}/increase`.
public struct IncreaseRequest: Codable, Equatable, Sendable {
    /// What is to be held in all, in minor units: the same again adds nothing.
    public var total: Int64

    public init(total: Int64) { self.total = total }

    private enum CodingKeys: String, CodingKey, CaseIterable { case total }

    /// - Throws: which member is wrong, and why.
    public init(from decoder: any Decoder) throws {
        total = try decoder.only(CodingKeys.total, below: .amountTotalNotPositive)
        guard total <= Limits.amount else { throw decoder.refusal(.amountTooLarge, at: CodingKeys.total) }
    }
}

extension Decoder {
    /// The whole number of a body that has nothing else, from 1 on.
    ///
    /// - Throws: which member is wrong, and why; `code` for one below 1.
    fileprivate func only<Key: CodingKey & CaseIterable, Number: FixedWidthInteger & Decodable>(
        _ key: Key, below code: ErrorCode
    ) throws -> Number {
        let number = try strictContainer(keyedBy: Key.self).decodeWhole(Number.self, forKey: key)
        guard number >= 1 else { throw refusal(code, at: key) }
        return number
    }
}
