// SPDX-License-Identifier: Apache-2.0
import CardBytes
import TestSupport

/// The JSONL files under `Tests/Vectors` that belong to offline data authentication.
enum Vectors {
    struct PublicOperation: Decodable, Sendable {
        let id, modulus, signature, result: String
        let exponent: UInt32
    }

    struct CAKey: Decodable, Sendable {
        let rid, index, modulus, exponent: String
        let sha1: String?
        let checksum_ok: Bool?
    }

    struct PublicKey: Decodable, Sendable {
        let modulus, exponent: String
        let pan, issuer_id, cert_exp: String?
    }

    struct Chain: Decodable, Sendable {
        struct Request: Decodable, Sendable {
            let rid, caIndex, issuerCertificate, issuerExponent, issuerRemainder: String
            let iccCertificate, iccExponent, iccRemainder, pan, ssad, sdad, staticData: String
            let terminalDynamicData, unpredictableNumber, transactionData, cid: String?
        }

        struct Expected: Decodable, Sendable {
            let issuerModulus, issuerExpiry: String
            let iccModulus, iccExpiry, dataAuthenticationCode, iccDynamicNumber, method, cryptogram: String?
        }

        let id: String
        let ca: CAKey
        let request: Request
        let expected: Expected
    }

    struct Recovery: Decodable, Sendable {
        struct Expected: Decodable, Sendable {
            let result: String
            let issuer_key, icc_key: PublicKey?
            let data_auth_code, hash: String?
        }

        let id, kind: String
        let ca: CAKey?
        let certificate, ssad, sdad, ddol_or_un_data, date: String?
        let issuer_key, icc_key: PublicKey?
        let icc: [String: String]
        let expected: Expected
    }

    static func publicOperations() throws -> [PublicOperation] { try VectorFile.rows("rsa/public-operation.jsonl") }
    static func caKeys() throws -> [CAKey] { try VectorFile.rows("ca-public-keys/keys.jsonl") }
    static func chains() throws -> [Chain] { try VectorFile.rows("offline-authentication/chains.jsonl") }
    static func recoveries() throws -> [Recovery] { try VectorFile.rows("offline-authentication/recoveries.jsonl") }
}

func hex(_ text: String?) throws -> [UInt8] { try Hex.bytes(text ?? "") }
