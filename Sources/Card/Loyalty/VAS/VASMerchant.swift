// SPDX-License-Identifier: Apache-2.0
internal import Crypto

/// One pass type that is asked for in an Apple VAS session.
public struct VASMerchant: Sendable {
    /// What a terminal wants of the phone.
    public enum Request: Equatable, Sendable {
        case pass
        /// The pass; a phone that has none is given the address.
        case passOrSignUp(url: String)
        /// Only send the address (GET VAS DATA with P2 = 00).
        case signUpOnly(url: String)
    }

    /// Longest address including its scheme, in UTF-8 bytes.
    public static let maximumURLLength = 64

    /// ASCII, case-sensitive: `pass.com.example.club`.
    public let passTypeIdentifier: String
    public let wish: Request
    /// Keys to open the pass with; none means that it is handed on sealed.
    public let keys: [VASKey]
    /// SHA-256 of the pass type identifier: what goes over the air, and into the key derivation.
    public let merchantID: [UInt8]

    /// - Throws: `.passTypeIdentifierInvalid` for an empty or non-ASCII identifier, `.urlInvalid` for an address that
    ///   is not https or longer than 64 bytes.
    public init(
        passTypeIdentifier: String, wish: Request = .pass, keys: [VASKey] = []
    ) throws(LoyaltyConfigurationError) {
        let bytes = Array(passTypeIdentifier.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .passTypeIdentifierInvalid
        }
        switch wish {
        case .pass: break
        case .passOrSignUp(let url), .signUpOnly(let url):
            guard SignUpURL.isValid(url, maximumLength: VASMerchant.maximumURLLength) else { throw .urlInvalid }
        }
        self.passTypeIdentifier = passTypeIdentifier
        self.wish = wish
        self.keys = keys
        merchantID = Array(SHA256.hash(data: bytes))
    }

    var url: String? {
        switch wish {
        case .pass: nil
        case .passOrSignUp(let url), .signUpOnly(let url): url
        }
    }

    var wantsSignUpOnly: Bool {
        switch wish {
        case .pass, .passOrSignUp: false
        case .signUpOnly: true
        }
    }
}

enum SignUpURL {
    /// Whether `text` begins with `https://`, goes on, holds printable ASCII only and is not too long.
    static func isValid(_ text: String, maximumLength: Int) -> Bool {
        let scheme = "https://"
        return text.utf8.count <= maximumLength && text.utf8.count > scheme.utf8.count && text.hasPrefix(scheme)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
