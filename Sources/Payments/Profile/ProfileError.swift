// SPDX-License-Identifier: Apache-2.0
public import Envelope
public import PaymentValues
public import TerminalFile

/// Why a profile, or an acceptance of terms, is not used.
public enum ProfileError: Error, Equatable, Sendable {
    /// The signature, or its form.
    case untrusted(JWSError)
    /// The JSON, or a member of a wrong name or type.
    case member(TerminalFileError)
    /// Not a text of so many bytes that can be printed in one line.
    case text(String, bytes: ClosedRange<Int>)
    /// Not `https` and visible ASCII.
    case address(String)
    /// Not RFC 3339 in UTC.
    case time(String)
    /// Not three numbers between dots.
    case version(String)
    /// Not an active currency of ISO 4217, or not one of the profile's.
    case currency(String)
    /// Not a network that this program knows.
    case network(String)
    /// A list without elements.
    case empty(String)
    /// The same thing for the second time.
    case repeated(String)
    /// An application of a network that is not accepted.
    case networkNotAccepted(String)
    /// An accepted network without an application.
    case networkWithoutApplication(String)
    case recipientKey(String, RecipientKeyError)
    case verificationKey(String, RecipientKeyError)
    /// `expiresAt` is not after `issuedAt`.
    case period(String)
    case notYetValid(Timestamp)
    case expired(Timestamp)
    /// A serial below that of the profile in force.
    case older(UInt64, than: UInt64)
    /// The serial of the profile in force with other content.
    case sameSerial(UInt64)
    /// An acceptance of other terms, or for another merchant.
    case otherTerms(String)
}

extension ProfileError {
    /// Path of the member it is about, where it is about one: `terminal.combinations[2].aid`.
    public var field: String? {
        switch self {
        case .untrusted(let error): error.member.map { "header.\($0)" }
        case .member(let error): error.field
        case .text(let field, _), .address(let field), .time(let field), .version(let field), .currency(let field),
            .network(let field),
            .empty(let field), .repeated(let field), .networkNotAccepted(let field),
            .networkWithoutApplication(let field), .recipientKey(let field, _), .verificationKey(let field, _),
            .period(let field), .otherTerms(let field):
            field
        case .notYetValid: "issuedAt"
        case .expired: "expiresAt"
        case .older, .sameSerial: "serial"
        }
    }
}

extension ProfileError: CustomStringConvertible {
    /// One phrase, with the member first where there is one.
    public var description: String {
        switch self {
        case .untrusted(let error): "\(error)"
        case .member(let error): error.description
        case .text(let field, let bytes):
            "\(field): not one line of \(bytes.lowerBound) to \(bytes.upperBound) bytes"
        case .address(let field): "\(field): not an address like https://pay.example/terms"
        case .time(let field): "\(field): not a time like 2026-03-01T08:30:00Z"
        case .version(let field): "\(field): not a version like 0.1.0"
        case .currency(let field):
            "\(field): not one of the profile's currencies, or not an active currency of ISO 4217"
        case .network(let field): "\(field): unknown network"
        case .empty(let field): "\(field): empty"
        case .repeated(let field): "\(field): repeated"
        case .networkNotAccepted(let field): "\(field): its network is not in acceptedNetworks"
        case .networkWithoutApplication(let field): "\(field): no application of this network in terminal"
        case .recipientKey(let field, let error): "\(field): \(error)"
        case .verificationKey(let field, let error): "\(field): \(error)"
        case .period(let field): "\(field): not after issuedAt"
        case .notYetValid(let time): "issuedAt: \(time) is in the future"
        case .expired(let time): "expiresAt: \(time) is in the past"
        case .older(let serial, let current):
            "serial: \(serial) is below \(current), the serial of the profile in force"
        case .sameSerial(let serial): "serial: \(serial) is in force with other content"
        case .otherTerms(let field): "\(field): does not match the terms in force"
        }
    }
}

extension ProfileError {
    /// What to do about it: one phrase for an administrator.
    public var remedy: String {
        switch self {
        case .recipientKey(_, .privateKeyInSet), .recipientKey(_, .privateKey), .verificationKey(_, .privateKey):
            "ask the payment service for a new key pair, and for a profile with the next serial that has its public half only"
        case .untrusted: "compare profile.key with the key that the payment service signs with"
        case .notYetValid, .expired: "set the clock, or ask the payment service for a profile that is valid now"
        case .older, .sameSerial: "ask the payment service for a profile with the next serial"
        case .member(let error):
            "ask the payment service for a profile with the next serial in which this is right: \(error.resolution)"
        case .text, .address, .time, .version, .currency, .network, .empty, .repeated, .networkNotAccepted,
            .networkWithoutApplication,
            .recipientKey, .verificationKey, .period:
            "ask the payment service for a profile with the next serial in which this is right"
        case .otherTerms: "accept the terms that are in force"
        }
    }
}
