// SPDX-License-Identifier: Apache-2.0
/// The one form of every error in both APIs: `{"error": {…}}`.
public struct ErrorBody: Codable, Equatable, Sendable, Error {
    public var error: ErrorDetail
    /// With `request.method_not_allowed`: the methods that the path has, for the `Allow` header (RFC 9110 §10.2.1). Not in
    /// the body.
    public var allowedMethods: [String] = []

    private enum CodingKeys: String, CodingKey {
        case error
    }

    public init(error: ErrorDetail) { self.error = error }

    public init(_ code: ErrorCode, field: String? = nil, transaction: TransactionID? = nil) {
        error = ErrorDetail(code, field: field, transaction: transaction)
    }

    public init(_ refusal: WireError) { self.init(refusal.code, field: refusal.field) }
}

/// An error as a client gets it. Texts come from the catalogue, so that no card data can get in.
public struct ErrorDetail: Codable, Equatable, Sendable {
    /// Raw value of an `ErrorCode`; a client may meet one that it does not know yet.
    public var code: String
    public var message: String
    public var resolution: String
    public var retryable: Bool
    public var who: ResponsibleParty
    /// The request member it is about; `nil` for the whole request.
    public var field: String?
    public var next: [NextStep]?
    /// The transaction that is in the way, or that this is about.
    public var transaction: TransactionID?
    /// The operation that is in the way, or that this is about.
    public var operation: OperationID?
    /// The largest amount that is possible now, where more was asked for.
    public var limit: Money?
    /// What the card would have needed, with `read.card_unsupported`.
    public var unsupportedKernel: UnsupportedKernel?
    /// Address of the explanation of the error.
    public var docs: String
    /// Who helps with what is beyond everybody else, and what they will ask for.
    public var support: SupportReference?

    public init(_ code: ErrorCode, field: String? = nil, transaction: TransactionID? = nil) {
        let entry = code.entry
        self.code = code.rawValue
        (message, resolution) = code.texts(in: .english)
        retryable = entry.retryable
        who = entry.who
        self.field = field
        next = entry.next.isEmpty ? nil : entry.next
        self.transaction = transaction
        docs = "/usr/share/doc/nfc-tap/integrating/errors.md#\(code.rawValue)"
    }
}

extension ErrorDetail {
    private enum CodingKeys: String, CodingKey {
        case code, message, resolution, retryable, who, field, next, transaction, operation, limit
        case unsupportedKernel, docs, support
    }

    /// In the language of the audience, if this version knows the code.
    public func encode(to encoder: any Encoder) throws {
        let audience = encoder.audience
        let texts = ErrorCode(rawValue: code)?.texts(in: audience.language)
        var support = support ?? audience.support
        if let transaction { support?.transaction = transaction }
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(code, forKey: .code)
        try members.encode(texts?.message ?? message, forKey: .message)
        try members.encode(texts?.resolution ?? resolution, forKey: .resolution)
        try members.encode(retryable, forKey: .retryable)
        try members.encode(who, forKey: .who)
        try members.encodeIfPresent(field, forKey: .field)
        try members.encodeIfPresent(next, forKey: .next)
        try members.encodeIfPresent(transaction, forKey: .transaction)
        try members.encodeIfPresent(operation, forKey: .operation)
        try members.encodeIfPresent(limit, forKey: .limit)
        try members.encodeIfPresent(unsupportedKernel, forKey: .unsupportedKernel)
        try members.encode(docs, forKey: .docs)
        try members.encodeIfPresent(support, forKey: .support)
    }
}
