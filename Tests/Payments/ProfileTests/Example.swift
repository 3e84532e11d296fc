// SPDX-License-Identifier: Apache-2.0
import Envelope
import Foundation
import PaymentValues
import Profile
import TestSupport

/// The profile of the documents, and what a test changes of it.
enum Example {
    static func text() throws -> String {
        try Checkout.text("docs/examples/profile-marketplace.json")
    }

    /// The example with pieces of text replaced, each once.
    static func bytes(_ replacements: (old: String, new: String)...) throws -> [UInt8] {
        var text = try text()
        for (old, new) in replacements {
            guard text.contains(old) else { throw NotThere(text: old) }
            text = text.replacing(old, with: new, maxReplacements: 1)
        }
        return Array(text.utf8)
    }

    static func signed(
        _ json: [UInt8], by key: SigningKey, type: String = SignedProfile.type
    ) throws -> String { try JWS.sign(json, key: key, type: type) }

    struct NotThere: Error { let text: String }
}

func time(_ text: String) throws -> Timestamp {
    guard let time = Timestamp(text) else { throw Example.NotThere(text: text) }
    return time
}
