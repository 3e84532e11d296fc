import CardBytes
import Foundation

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

    static let publicOperations: [PublicOperation] = load("rsa/public-operation.jsonl")
    static let caKeys: [CAKey] = load("ca-public-keys/keys.jsonl")
    static let chains: [Chain] = load("offline-authentication/chains.jsonl")
    static let recoveries: [Recovery] = load("offline-authentication/recoveries.jsonl")

    private static func load<Row: Decodable>(_ name: String) -> [Row] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/\(name)")
        let decoder = JSONDecoder()
        let lines = (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n") ?? []
        return lines.compactMap { try? decoder.decode(Row.self, from: Data($0.utf8)) }
    }
}

func hex(_ text: String?) throws -> [UInt8] { try Hex.bytes(text ?? "") }
