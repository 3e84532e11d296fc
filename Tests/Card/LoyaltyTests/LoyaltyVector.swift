// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Foundation
import Loyalty
import TestSupport
import Testing

/// One line of `Tests/Vectors/loyalty/loyalty.jsonl`.
struct LoyaltyVector: Sendable, CustomTestStringConvertible {
    let id: String
    private let line: String

    private static func lines() throws -> [Substring] {
        try VectorFile.lines("loyalty/loyalty.jsonl")
    }

    /// Every kind in the file.
    static func kinds() throws -> [String] {
        Set(try lines().map { LoyaltyVector(id: "", line: String($0)).object["kind"] as? String ?? "?" }).sorted()
    }

    static func all(_ kind: String) throws -> [LoyaltyVector] {
        try lines().compactMap { line in
            let vector = LoyaltyVector(id: "", line: String(line))
            guard vector.object["kind"] as? String == kind else { return nil }
            return LoyaltyVector(id: vector.object["id"] as? String ?? "?", line: String(line))
        }
    }

    static func one(_ id: String, kind: String) throws -> LoyaltyVector {
        try #require(all(kind).first { $0.id == id }, "no vector \(id)")
    }

    var testDescription: String { id }

    var object: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any] ?? [:]
    }

    func text(_ key: String) throws -> String { try #require(object[key] as? String, "\(id) has no \(key)") }
    func optionalText(_ key: String) -> String? { object[key] as? String }
    func number(_ key: String) throws -> Int { try #require(object[key] as? Int, "\(id) has no \(key)") }
    func bytes(_ key: String) throws -> [UInt8] { try Hex.bytes(text(key)) }

    func response(_ key: String = "response") throws -> ResponseAPDU { try ResponseAPDU(bytes(key)) }

    /// Of the long-term or merchant key under `key`.
    func privateKey(_ key: String) throws -> P256PrivateKey { try P256PrivateKey(SecretBytes(bytes(key))) }

    struct Exchange: Sendable {
        let command: [UInt8]
        /// Empty where it is not part of the test.
        let response: [UInt8]
    }

    /// The exchanges of a transcript; field events are left out.
    func exchanges() throws -> [Exchange] {
        let list = try #require(object["apdus"] as? [[String: Any]])
        return try list.compactMap { entry in
            guard let command = entry["c"] as? String else { return nil }
            return Exchange(
                command: try Hex.bytes(command), response: try Hex.bytes(entry["r"] as? String ?? ""))
        }
    }
}

extension SecretBytes {
    /// For comparing in tests only.
    var revealed: [UInt8] {
        withSpan { bytes in
            var copy: [UInt8] = []
            for index in bytes.indices { copy.append(bytes[index]) }
            return copy
        }
    }

    var text: String { String(decoding: revealed, as: UTF8.self) }
}

func apdu(_ hex: String) throws -> ResponseAPDU { try ResponseAPDU(Hex.bytes(hex)) }
