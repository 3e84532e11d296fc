// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport

/// `Tests/Vectors/cryptograms`: what an independent implementation computes.
enum CryptogramVectors {
    struct Row: Decodable, Sendable {
        let id, kind: String
        let version, issuerMasterKey, pan, sequence, cardMasterKey, cryptogram: String?
        let values: [String: String]?
        let key, block, encrypted: String?
        let imk_ac, psn, atc, icc_mk, session_key, data, arqc: String?
    }

    static func rows(_ kind: String) throws -> [Row] {
        try VectorFile.rows("cryptograms/keys-and-cryptograms.jsonl", as: Row.self).filter { $0.kind == kind }
    }
}

func hex(_ text: String?) throws -> [UInt8] { try Hex.bytes(text ?? "") }

func tag(_ text: String) throws -> CardBytes.Tag {
    Tag(try Hex.bytes(text).reduce(0) { $0 << 8 | UInt32($1) })
}
