// SPDX-License-Identifier: Apache-2.0
/// Whom people turn to when an error is beyond them, as the configuration names it.
public struct SupportContact: Codable, Equatable, Sendable {
    /// Web page.
    public var url: String?
    /// One line: a phone number, opening hours.
    public var text: String?

    public init(url: String? = nil, text: String? = nil) {
        self.url = url
        self.text = text
    }
}

/// What support asks for first, in every error: who helps, and the names under which the case is found.
public struct SupportReference: Codable, Hashable, Sendable {
    public var url: String?
    public var text: String?
    /// Name of this installation, stable over restarts.
    public var installation: String
    /// The reader concerned: its serial number, or its name where it has none.
    public var reader: String?
    public var transaction: TransactionID?

    public init(
        _ contact: SupportContact, installation: String, reader: String? = nil, transaction: TransactionID? = nil
    ) {
        url = contact.url
        text = contact.text
        self.installation = installation
        self.reader = reader
        self.transaction = transaction
    }
}
