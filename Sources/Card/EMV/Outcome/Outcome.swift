// SPDX-License-Identifier: Apache-2.0
/// What a kernel, or Entry Point itself, ends with (EMV Contactless Book A §6.2; DF8129 of kernel 2). It has a
/// stored property for each parameter of the book.
public struct Outcome: Equatable, Sendable {
    public enum Status: UInt8, Sendable, CaseIterable {
        case approved = 0x10
        case declined = 0x20
        case onlineRequest = 0x30
        case endApplication = 0x40
        case selectNext = 0x50
        case tryAnotherInterface = 0x60
        case tryAgain = 0x70
    }

    /// What online response data makes a restart worthwhile.
    public enum OnlineResponseData: UInt8, Sendable {
        case emvData = 0x00
        case any = 0x10
    }

    /// Cardholder verification that the terminal still has to obtain, or that has been done.
    public enum CVM: UInt8, Sendable, CaseIterable {
        case noCVM = 0x00
        case obtainSignature = 0x10
        case onlinePIN = 0x20
        /// The consumer device verified its holder (CDCVM).
        case confirmationCodeVerified = 0x30
    }

    public enum AlternateInterface: UInt8, Sendable {
        case contactChip = 0x10
        case magStripe = 0x20
        /// Either of the two. Its code, the bits of both, is unverified.
        case both = 0x30
    }

    public var status: Status
    /// Where Entry Point goes on; `nil` for N/A.
    public var start: StartPoint?
    /// `nil` for N/A.
    public var onlineResponseData: OnlineResponseData?
    /// `nil` for N/A.
    public var cvm: CVM?
    public var uiOnOutcome: UIRequest?
    public var uiOnRestart: UIRequest?
    /// What to send to the acquirer; `nil` where there is none.
    public var dataRecord: [DataObject]?
    /// What a terminal may want to know besides; `nil` where there is none.
    public var discretionaryData: [DataObject]?
    /// Other interface to offer; `nil` for N/A.
    public var alternateInterface: AlternateInterface?
    /// A receipt has to be printed.
    public var receipt: Bool
    /// Field off for so many times 100 ms; `nil` for no request.
    public var fieldOffRequest: UInt8?
    /// Wait so many times 100 ms for the card to be removed.
    public var removalTimeout: UInt8
    public var error: ErrorIndication
    /// The kernel's torn-transaction log where it changed; Entry Point keeps it for the next tap.
    public var tornTransactions: [TornTransaction]?
    /// What a wrong answer in kernel 2's mag-stripe mode costs: so many milliseconds have to pass before anything else
    /// happens (C-2 S13). Before a restart Entry Point asks for them as field-off time.
    public var penaltyMilliseconds: UInt64 = 0
    /// Wrong answers in mag-stripe mode in a row, 0…5, where this run was one more or ended the row; Entry Point keeps
    /// the number for the next tap.
    public var failedMagStripeReads: UInt8?
    /// The CA key for want of which the card was not authenticated, where it names one that the terminal does not have or
    /// that has expired. For people: such cards may be declined offline, or be asked for more than others.
    public var unmatchedKey: UnmatchedCAKey?
    /// The step that this outcome comes from; `nil` for an approval or an online request without an error, for kernels
    /// of others, and where somebody outside ended the wait for a card. Not part of the Outcome Parameter Set.
    package var endedAt: ProcessingStep?

    public init(
        _ status: Status, start: StartPoint? = nil, onlineResponseData: OnlineResponseData? = nil, cvm: CVM? = nil,
        uiOnOutcome: UIRequest? = nil, uiOnRestart: UIRequest? = nil, dataRecord: [DataObject]? = nil,
        discretionaryData: [DataObject]? = nil, alternateInterface: AlternateInterface? = nil, receipt: Bool = false,
        fieldOffRequest: UInt8? = nil, removalTimeout: UInt8 = 0, error: ErrorIndication = ErrorIndication()
    ) {
        self.status = status
        self.start = start
        self.onlineResponseData = onlineResponseData
        self.cvm = cvm
        self.uiOnOutcome = uiOnOutcome
        self.uiOnRestart = uiOnRestart
        self.dataRecord = dataRecord
        self.discretionaryData = discretionaryData
        self.alternateInterface = alternateInterface
        self.receipt = receipt
        self.fieldOffRequest = fieldOffRequest
        self.removalTimeout = removalTimeout
        self.error = error
    }
}
