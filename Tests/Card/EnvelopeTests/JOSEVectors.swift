// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import TestSupport
import Testing

@testable import Envelope

/// One line of `Tests/Vectors/jose`.
struct JOSEVector {
    let members: [String: Any]

    static func load(_ name: String) throws -> [JOSEVector] {
        try VectorFile.objects("jose/\(name).jsonl").map { JOSEVector(members: $0) }
    }

    static func load(_ name: String, id: String) throws -> JOSEVector {
        try #require(load(name).first { try $0.text("id") == id })
    }

    func text(_ member: String) throws -> String { try #require(members[member] as? String, "\(member)") }

    func hex(_ member: String) throws -> [UInt8] { try Hex.bytes(text(member)) }

    func octets(_ member: String) throws -> [UInt8] { try #require(Base64URL.decode(text(member).utf8)) }

    /// The vector's JWK with members replaced, or taken out by `nil`.
    func jwk(_ changes: [String: String?] = [:]) throws -> [UInt8] {
        var key = try #require(members["key"] as? [String: String])
        for (name, value) in changes { key[name] = value }
        return Array(try JSONSerialization.data(withJSONObject: key))
    }

    func privateKey() throws -> RecipientPrivateKey { try RecipientPrivateKey(jwk: SecretBytes(jwk())) }

    /// The public half with the `kid` that the own samples carry.
    func recipient(_ changes: [String: String?] = [:]) throws -> RecipientKey {
        let publicOnly: [String: String?] = ["d": nil, "p": nil, "q": nil, "kid": "test-2026-11"]
        return try RecipientKey(jwk: jwk(publicOnly.merging(changes) { $1 }))
    }

    /// The protected header of `compact`.
    func header() throws -> [UInt8] { try part(0) }

    /// One of the five parts of `compact`, decoded.
    func part(_ index: Int) throws -> [UInt8] {
        let parts = try text("compact").split(separator: ".", omittingEmptySubsequences: false)
        return try #require(Base64URL.decode(parts[index].utf8))
    }
}

extension SecretBytes {
    /// For comparing in tests only.
    var copied: [UInt8] { withSpan { span in span.indices.map { span[$0] } } }

    convenience init(text: String) { self.init(Array(text.utf8)) }
}
