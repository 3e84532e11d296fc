// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// Answer of `GET /v1/terms`: what has to be accepted before a live payment, and whether it has been.
public struct Terms: Codable, Equatable, Sendable {
    public var state: Status.Terms
    /// For whom the terms are accepted; missing as long as there is no profile.
    public var merchant: String?
    public var displayName: String?
    public var version: String?
    public var text: String?
    /// Where an administrator can accept them on any device: a page of the payment service.
    public var page: String?
    /// SHA-256 of the text, in lower-case hexadecimal: to be sent back with the acceptance.
    public var hash: String?
    /// Thumbprint (RFC 7638) of the payment service's key under which the text came.
    public var key: String?
    public var acceptance: TermsAcceptance?

    public init(state: Status.Terms) { self.state = state }
}

/// Who accepted which terms, and when. Answer of `POST /v1/terms/acceptance`.
public struct TermsAcceptance: Codable, Equatable, Sendable {
    public enum Source: String, Codable, CaseIterable, Sendable {
        /// By an administrator of this machine.
        case local
        /// Elsewhere, stated in a file that the payment service has signed.
        case file
    }

    public var merchant: String
    public var version: String
    public var hash: String
    public var key: String
    public var acceptedAt: Timestamp
    /// Name of the user, or of the person as the file has it.
    public var acceptedBy: String
    /// Of the user who accepted, or brought the file.
    public var uid: UInt32
    public var source: Source

    public init(
        merchant: String, version: String, hash: String, key: String, acceptedAt: Timestamp, acceptedBy: String,
        uid: UInt32, source: Source
    ) {
        self.merchant = merchant
        self.version = version
        self.hash = hash
        self.key = key
        self.acceptedAt = acceptedAt
        self.acceptedBy = acceptedBy
        self.uid = uid
        self.source = source
    }
}

/// Body of `POST /v1/terms/acceptance`: either `hash`, of the text that was read, or `file`, an acceptance that the
/// payment service has signed.
public struct TermsAcceptanceRequest: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        case hash(String)
        case file(String)
    }

    public var content: Content

    public init(_ content: Content) { self.content = content }
}

extension TermsAcceptanceRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hash, file
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        let hash = try members.decodeIfPresent(String.self, forKey: .hash)
        let file = try members.decodeIfPresent(String.self, forKey: .file)
        switch (hash, file) {
        case (let hash?, nil): content = .hash(hash)
        case (nil, let file?): content = .file(file)
        case (nil, nil): throw decoder.refusal(.requestMissingField, at: CodingKeys.hash)
        case (.some, .some): throw decoder.refusal(.requestFieldConflict, at: CodingKeys.file)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch content {
        case .hash(let hash): try members.encode(hash, forKey: .hash)
        case .file(let file): try members.encode(file, forKey: .file)
        }
    }
}
