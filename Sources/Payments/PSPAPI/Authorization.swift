// SPDX-License-Identifier: Apache-2.0
public import PINDeviceAPI
public import PaymentValues

/// Body of the adapter's `POST /v1/authorizations`. `Idempotency-Key` is the transaction's id.
/// It has a stored property for each member.
public struct AuthorizationRequest: Codable, Equatable, Sendable {
    public enum Kind: String, Codable, CaseIterable, Sendable {
        case sale, preauth, refund, verify
    }

    /// Cardholder verification as the kernel's outcome says.
    public enum CVM: String, Codable, CaseIterable, Sendable {
        case noCVM = "NO_CVM"
        case consumerDevice = "CONSUMER_DEVICE"
        case signature = "SIGNATURE"
        /// Verified by the issuer, who gets it in `pin`.
        case onlinePIN = "ONLINE_PIN"
        case none = "NONE"
    }

    /// What the daemon does with an answer that asks for it.
    public enum Feature: String, Codable, CaseIterable, Sendable {
        /// Asks the customer for the PIN and goes on with the same read.
        case singleTap
    }

    public struct Terminal: Codable, Equatable, Sendable {
        public var id: String
        public var merchant: String
        public var capabilities: [String]

        public init(id: String, merchant: String, capabilities: [String]) {
            self.id = id
            self.merchant = merchant
            self.capabilities = capabilities
        }
    }

    /// How what is approved is to be held.
    public struct Hold: Codable, Equatable, Sendable {
        /// It is wished to be held for at least so long.
        public var before: Timestamp?
        /// Adjustments will come: some payment services have to be told with the first request.
        public var incremental: Bool?

        public init(before: Timestamp? = nil, incremental: Bool? = nil) {
            self.before = before
            self.incremental = incremental
        }
    }

    public var id: TransactionID
    public var mode: Mode
    public var type: Kind
    public var amount: Money
    public var entryMode: EntryMode
    public var cvm: CVM
    /// Allow-listed data objects only: BER-TLV in hexadecimal.
    public var emv: String
    public var card: MaskedCard
    /// The sealed card record: JWE in compact form.
    public var envelope: String
    public var terminal: Terminal
    public var order: String?
    /// Approved by the card without asking, and forwarded later.
    public var offline: Bool
    public var retryOf: TransactionID?
    /// What kind of payment the amount is.
    public var description: AmountDescription?
    /// With `preauth`.
    public var hold: Hold?
    /// With all but `refund`: the card is to be stored, as its holder has agreed to.
    public var agreement: AgreementProof?
    /// With `ONLINE_PIN`. It is put in as the request is sent, and never written down.
    public var pin: OnlinePIN?
    /// Put in as the request is sent: it holds for this read and while it is fresh.
    public var features: [Feature]?

    public init(
        id: TransactionID, mode: Mode, type: Kind, amount: Money, entryMode: EntryMode, cvm: CVM, emv: String,
        card: MaskedCard, envelope: String, terminal: Terminal, order: String? = nil, offline: Bool = false,
        retryOf: TransactionID? = nil
    ) {
        self.id = id
        self.mode = mode
        self.type = type
        self.amount = amount
        self.entryMode = entryMode
        self.cvm = cvm
        self.emv = emv
        self.card = card
        self.envelope = envelope
        self.terminal = terminal
        self.order = order
        self.offline = offline
        self.retryOf = retryOf
    }
}

/// Body of the adapter's `POST /v1/authorizations/{id}/continuations`: the same read once more, with the PIN that its issuer has
/// asked for. `Idempotency-Key` is the id of the PIN's entry.
public struct ContinuationRequest: Codable, Equatable, Sendable {
    public var id: PINAttemptID
    /// As it was answered, without a PIN.
    public var authorization: AuthorizationRequest
    public var pin: OnlinePIN

    public init(authorization: AuthorizationRequest, pin: OnlinePIN) {
        (id, self.pin) = (pin.attempt, pin)
        self.authorization = authorization
        self.authorization.pin = nil
    }
}

extension ContinuationRequest: CustomStringConvertible, CustomReflectable {
    public var description: String { "continuation \(id)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The adapter's answer to an authorisation, to a charge, and to `GET /v1/authorizations/{id}`. It has a
/// stored property for each member.
public struct AuthorizationAnswer: Codable, Equatable, Sendable {
    public enum Outcome: String, Codable, CaseIterable, Sendable {
        case approved, declined, partial, pending
    }

    public enum Action: String, Codable, CaseIterable, Sendable {
        case none, pinRequired, useContact, tryAgain, callIssuer

        /// A word of a later version asks for nothing that is known here, and the answer stands.
        public init(from decoder: any Decoder) throws {
            self = Action(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .none
        }
    }

    /// What has to be there for a refund that names the payment.
    public enum RefundCard: String, Codable, CaseIterable, Sendable {
        /// The card has to be read once more.
        case present
        /// No card.
        case any

        /// A word of a later version asks for the card: a refund without it could go wrong.
        public init(from decoder: any Decoder) throws {
            self = RefundCard(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .present
        }
    }

    /// Issuer's data for the card, in hexadecimal.
    public struct IssuerData: Codable, Equatable, Sendable {
        /// Issuer authentication data, tag 91.
        public var authenticationData: String?
        /// Issuer scripts, tags 71 and 72.
        public var scripts: [String]?

        public init(authenticationData: String? = nil, scripts: [String]? = nil) {
            self.authenticationData = authenticationData
            self.scripts = scripts
        }
    }

    public var outcome: Outcome
    public var approvalCode: String?
    /// Data element 39 of ISO 8583.
    public var responseCode: String?
    public var action: Action?
    /// With `pinRequired`: the issuer takes the PIN with the same read, by a continuation.
    public var singleTap: Bool?
    /// With `singleTap`, where the issuer says how often a PIN may still be tried.
    public var pinAttemptsLeft: Int?
    /// With `pinRequired` and `useContact`: how long the payment service goes on with this read, by a link or at another terminal whose
    /// `retryOf` is this payment.
    public var readKeptUntil: Timestamp?
    public var issuerData: IssuerData?
    /// With `partial`.
    public var amountApproved: Money?
    public var pspReference: String?
    public var receiptLines: [String]?
    /// Where the customer finds the receipt: an `https` address, which is shown as a QR code.
    public var receiptURL: String?
    /// The payment service's own name for the card, the same for each read of it by this merchant: what finds a card again
    /// without its number, and what is charged later where the card was stored.
    public var cardToken: String?
    /// With an approved `preauth`: until when the payment service holds the sum.
    public var captureBefore: Timestamp?
    /// With an approved `preauth`: how much may be captured in all, where that is more than is held.
    public var maximumCapture: Money?
    /// What a refund that names this payment needs.
    public var refundCard: RefundCard?
    /// The payment's figures in the payment service's books.
    public var account: ServiceAccount?
    /// With a card that is stored: what later charges have to name to the network.
    public var networkReference: String?
    /// With a card that is stored: `YYYY-MM`.
    public var cardExpires: String?
    /// With a declined charge: whether to try again.
    public var retry: RetryAdvice?

    public init(outcome: Outcome, responseCode: String? = nil) {
        self.outcome = outcome
        self.responseCode = responseCode
    }
}
