// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// One line of an exported chain: JSON, first the installation with its key, then the signed statements, then the entries.
public enum AuditLine: Equatable, Sendable {
    /// The public JWK is there to read the file with; who wants proof compares it with the one known from elsewhere.
    case installation(name: String, jwk: String)
    case statement(String)
    case link(AuditLink)

    /// The line without its end.
    public var text: String {
        let form: Form
        switch self {
        case .installation(let name, let jwk): form = Form(installation: name, key: jwk)
        case .statement(let token): form = Form(statement: token)
        case .link(let link):
            form = Form(
                sequence: link.sequence, at: link.entry.at, kind: link.entry.kind, subject: link.entry.subject,
                detail: link.entry.detail, hash: link.hash)
        }
        return (try? WireJSON.encode(form)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// - Returns: `nil` for what is no such line.
    public init?(_ text: some StringProtocol) {
        guard let form = try? WireJSON.decode(Form.self, from: Array(text.utf8)) else { return nil }
        if let name = form.installation, let key = form.key {
            self = .installation(name: name, jwk: key)
        } else if let token = form.statement {
            self = .statement(token)
        } else if let sequence = form.sequence, let at = form.at, let kind = form.kind, let subject = form.subject,
            let detail = form.detail, let hash = form.hash
        {
            let entry = AuditEntry(kind, subject: subject, detail: detail, at: at)
            self = .link(AuditLink(sequence: sequence, entry: entry, hash: hash))
        } else {
            return nil
        }
    }

    private struct Form: Codable {
        var installation: String?
        var key: String?
        var statement: String?
        var sequence: Int64?
        var at: Timestamp?
        var kind: AuditEntry.Kind?
        var subject: String?
        var detail: String?
        var hash: String?
    }
}
