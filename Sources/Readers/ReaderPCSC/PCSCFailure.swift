// SPDX-License-Identifier: Apache-2.0
import CPCSC
import ReaderCore

/// A PC/SC call that failed: which, with which code, and what that means for us.
struct PCSCFailure: Error, Equatable {
    enum Call: String {
        case establishContext, listReaders, getStatusChange, connect, beginTransaction, transmit, control, getAttribute,
            disconnect
    }

    /// What the caller can do about a code.
    enum Meaning {
        /// Gone, reset, swapped, or its answer damaged.
        case cardLost
        /// Something is in the field but does not answer.
        case mute
        /// The card is active in a protocol that nothing here speaks: another program has left it so.
        case otherProtocol
        case inUse
        /// The name is not in the list of readers any more.
        case readerGone
        /// The reader is listed but its driver reports an error, or it went during the call.
        case readerUnavailable
        /// Context and handles are dead: pcscd ended, or ended our connection.
        case connectionLost
        case notRunning
        /// pcscd runs, and speaks another version of the protocol than this process's libpcsclite.
        case otherVersion
        /// Refused, or the connection was closed before an answer: libpcsclite has one code for both.
        case accessDenied
        case cancelled
        case timedOut
        /// The call did not come back by its deadline; its connection was severed.
        case stuck
        case other
    }

    let call: Call
    /// Unsigned, because LONG is 64 bits wide on some machines and negative on others.
    let code: UInt32
    let meaning: Meaning

    init(_ call: Call, _ code: UInt32, meaning: Meaning? = nil) {
        self.call = call
        self.code = code
        self.meaning = meaning ?? Self.meaning(of: code, in: call)
    }

    /// Whether the context that made the call is of no further use.
    var endsContext: Bool {
        switch meaning {
        case .connectionLost, .notRunning, .otherVersion, .stuck: true
        case .cardLost, .mute, .otherProtocol, .inUse, .readerGone, .readerUnavailable, .accessDenied, .cancelled,
            .timedOut, .other:
            false
        }
    }

    /// Whether pcscd answers the call by itself, without a word to a reader or a card.
    var asksService: Bool {
        switch call {
        case .establishContext, .listReaders, .getStatusChange: true
        case .connect, .beginTransaction, .transmit, .control, .getAttribute, .disconnect: false
        }
    }

    var readerError: ReaderError {
        switch meaning {
        case .cardLost, .mute, .otherProtocol: .cardLost
        case .inUse: .inUse
        case .readerGone: .detached
        case .readerUnavailable: call == .transmit ? .detached : .faulty(code: Int64(code))
        case .connectionLost: .detached
        case .notRunning: call == .establishContext ? .serviceUnavailable(.pcscdNotRunning) : .detached
        case .otherVersion: .serviceUnavailable(.otherVersion)
        case .accessDenied: .serviceUnavailable(.accessDenied)
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        case .stuck: asksService ? .serviceUnavailable(.pcscdNotRunning) : .timedOut
        case .other: .faulty(code: Int64(code))
        }
    }

    private static func meaning(of code: UInt32, in call: Call) -> Meaning {
        switch meanings[code] ?? .other {
        // Where a connection is refused, pcscd means it. Later, libpcsclite says so of a connection that is broken.
        case .accessDenied where call != .establishContext && call != .connect: .connectionLost
        // A service that does not run gives no answer at all.
        case .otherVersion where call != .establishContext: .notRunning
        case .otherProtocol where call != .connect: .cardLost
        case let meaning: meaning
        }
    }

    private static let meanings: [UInt32: Meaning] = [
        cpcsc_code(SCARD_E_NO_SMARTCARD): .cardLost,
        cpcsc_code(SCARD_E_NOT_TRANSACTED): .cardLost,
        cpcsc_code(SCARD_W_RESET_CARD): .cardLost,
        cpcsc_code(SCARD_W_REMOVED_CARD): .cardLost,
        cpcsc_code(SCARD_E_COMM_DATA_LOST): .cardLost,
        // More than the 258 bytes of a short answer: no contactless EMV card sends them.
        cpcsc_code(SCARD_E_INSUFFICIENT_BUFFER): .cardLost,
        cpcsc_code(SCARD_E_PROTO_MISMATCH): .otherProtocol,
        cpcsc_code(SCARD_W_UNRESPONSIVE_CARD): .mute,
        cpcsc_code(SCARD_W_UNPOWERED_CARD): .mute,
        cpcsc_code(SCARD_W_UNSUPPORTED_CARD): .mute,
        cpcsc_code(SCARD_E_SHARING_VIOLATION): .inUse,
        cpcsc_code(SCARD_E_UNKNOWN_READER): .readerGone,
        cpcsc_code(SCARD_E_NO_READERS_AVAILABLE): .readerGone,
        cpcsc_code(SCARD_E_READER_UNAVAILABLE): .readerUnavailable,
        cpcsc_code(SCARD_F_COMM_ERROR): .connectionLost,
        cpcsc_code(SCARD_F_INTERNAL_ERROR): .connectionLost,
        cpcsc_code(SCARD_E_INVALID_HANDLE): .connectionLost,
        cpcsc_code(SCARD_E_INVALID_VALUE): .connectionLost,
        cpcsc_code(SCARD_E_NO_SERVICE): .notRunning,
        cpcsc_code(SCARD_E_SERVICE_STOPPED): .otherVersion,
        cpcsc_code(SCARD_W_SECURITY_VIOLATION): .accessDenied,
        cpcsc_code(SCARD_E_CANCELLED): .cancelled,
        cpcsc_code(SCARD_E_TIMEOUT): .timedOut,
    ]
}

extension PCSCFailure {
    static var noContext: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .connectionLost) }
    static var noCard: PCSCFailure { PCSCFailure(.transmit, 0, meaning: .cardLost) }
    static var mute: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .mute) }
    static var timedOut: PCSCFailure { PCSCFailure(.getStatusChange, 0, meaning: .timedOut) }
}
