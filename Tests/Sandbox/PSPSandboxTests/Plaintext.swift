// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Envelope
import PSPSandbox

/// An envelope's content as text, to be altered and sealed again. Test cards only.
struct Plaintext {
    var text: String

    init(_ envelope: String) throws {
        text = try JWE.open(envelope, with: TestRecipient.privateKey()).withSpan { span in
            String(decoding: span.indices.map { span[$0] }, as: UTF8.self)
        }
    }

    func replacing(_ old: String, with new: String) -> Plaintext {
        var copy = self
        copy.text = text.replacing(old, with: new)
        return copy
    }

    func sealed() throws -> String {
        try JWE.seal(SecretBytes(Array(text.utf8)), to: .sandboxTest)
    }
}
