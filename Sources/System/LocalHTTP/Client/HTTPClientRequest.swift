// SPDX-License-Identifier: Apache-2.0
/// A request to be sent.
public struct HTTPClientRequest: Sendable {
    public var method: HTTPMethod
    /// Path and query as sent, percent-encoded already: `/v1/lanes/till-1?wait=30`. See `percentEncoded`.
    public var target: String
    /// `Host`, `Content-Length` and `Connection` are the client's.
    public var fields: HTTPFields
    public var body: [UInt8]
    /// The value of `Host`.
    public var authority = "localhost"

    public init(_ method: HTTPMethod, _ target: String, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// Encodes everything but unreserved characters (RFC 3986 §2.3), for one path segment or query value.
    public static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }
}
