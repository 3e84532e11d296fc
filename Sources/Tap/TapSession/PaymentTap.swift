// SPDX-License-Identifier: Apache-2.0
public import CardBytes
public import EMV
public import EMVCrypto
public import Envelope
public import ReaderCore

/// One payment tap from end to end: Entry Point and kernel on the reader, the read sealed to the PSP's key, the result
/// handed over before a lamp lights or the card is let go.
public struct PaymentTap: Sendable {
    public var configuration: TerminalConfiguration
    public var authentication: OfflineAuthentication
    public var transaction: Transaction
    public var binding: CardRecord.Binding
    public var recipient: RecipientKey
    public var deadlines: TapDeadlines
    public var unpredictableNumbers: UnpredictableNumbers
    /// Accounts that are refused after the read, whatever the kernel says; nothing of them is sealed.
    public var denied: DenyList?
    /// The kernels of this terminal.
    public var kernels = KernelSet.standard
    /// Visa cards that were read a moment ago, which kernel 3 refuses; `nil` for none.
    public var recentCards: RecentCards?
    /// What a PIN device has to know of the account, and under which key.
    public struct PINAccount: Sendable {
        public var recipient: RecipientKey
        /// Format 4 takes the whole number, the others twelve digits of it.
        public var takesWholeNumber: Bool
        /// Sealed with each read whose issuer is asked: it may want the PIN with its answer.
        public var isForIssuer: Bool

        public init(recipient: RecipientKey, takesWholeNumber: Bool, isForIssuer: Bool = false) {
            self.recipient = recipient
            self.takesWholeNumber = takesWholeNumber
            self.isForIssuer = isForIssuer
        }

        func isWanted(after outcome: Outcome) -> Bool {
            outcome.cvm == .onlinePIN || isForIssuer && outcome.status == .onlineRequest
        }
    }

    /// Where a PIN device stands beside the reader: the terminal announces an online PIN then, and never else.
    public var pinAccount: PINAccount?
    /// Marks the card, so that it is known again while the process lives; `nil` for no mark.
    public var marker: CardFingerprinter?

    public init(
        configuration: TerminalConfiguration = .test, authentication: OfflineAuthentication, transaction: Transaction,
        binding: CardRecord.Binding, recipient: RecipientKey, deadlines: TapDeadlines,
        unpredictableNumbers: UnpredictableNumbers = .system
    ) {
        self.configuration = configuration
        self.authentication = authentication
        self.transaction = transaction
        self.binding = binding
        self.recipient = recipient
        self.deadlines = deadlines
        self.unpredictableNumbers = unpredictableNumbers
    }

    /// Runs on the reader's own thread, which it blocks. Whatever comes of it, the reader is released at the end.
    ///
    /// - Parameters:
    ///   - pause: lets so many milliseconds pass.
    ///   - onSignal: called as things happen, except that the moment to beep (`cardReadSuccessfully`) and what comes
    ///     after it wait until `deliver` is done.
    ///   - deliver: takes the result while the card is still in the field. Make it durable here.
    /// - Throws: before any card is asked for `.recipient` where the PSP's key is not valid at `binding.issuedAt`, and
    ///   `.sealing` where nothing can be sealed to it.
    public func run(
        on reader: any CardReader, cancellation: TapCancellation,
        clock: @escaping () -> TapInstant = monotonicNow, pause: @escaping (UInt64) -> Void = leaveFieldOff,
        onSignal: @escaping (TapSignal) -> Void, deliver: (PaymentTapResult) -> Void
    ) throws(PaymentTapError) {
        do throws(RecipientKeyError) {
            try recipient.checkPeriod(at: binding.issuedAt)
        } catch {
            throw .recipient(error)
        }
        let seal = try envelope()
        defer { reader.release() }
        let armed = clock()
        let display = TapDisplay(reader: reader, clock: clock, onSignal: onSignal)
        let observed = display.observed(pause: pause)
        do throws(PaymentTapError) {
            let final = try read(on: observed, cancellation, clock, pause, display)
            let result = try result(of: final, in: seal, armed: armed, observed, clock: clock)
            if result.read != nil, result.kernel == .visa { recentCards?.note(final, at: clock()) }
            deliver(result)
            display.settle(result.status, isSealed: result.read != nil)
        } catch {
            reader.show(error.isEndOfWaiting ? .idle : .error)
            throw error
        }
    }

    /// Runs Entry Point, again and again where a phone asks for a second tap (End Application with start B).
    private func read(
        on reader: ObservedReader, _ cancellation: TapCancellation, _ clock: () -> TapInstant,
        _ pause: (UInt64) -> Void, _ display: TapDisplay
    ) throws(PaymentTapError) -> FinalOutcome {
        var machine = EntryPoint(
            configuration: announced, transaction: transaction, unpredictableNumbers: unpredictableNumbers,
            authentication: authentication, kernels: recentCards?.guarding(kernels) ?? kernels)
        do throws(ReaderError) {
            while true {
                let final = try drive(
                    &machine, on: reader, deadlines: deadlines, cancellation: cancellation, clock: clock,
                    pause: pause
                ) { display.show($0) }
                guard final.outcome.status == .endApplication, final.wantsRestart, clock() < deadlines.card else {
                    return final
                }
            }
        } catch {
            throw .reader(error)
        }
    }

    /// What the terminal says of itself to this card.
    private var announced: TerminalConfiguration { pinAccount == nil ? configuration : configuration.withOnlinePIN }

    /// The kernel's outcome, or a decline of an account on the deny list, with what becomes of the kernel's record.
    private func checked(_ final: FinalOutcome) -> (final: FinalOutcome, unsealed: UnsealedRecord?) {
        guard let record = final.outcome.dataRecord else { return (final, nil) }
        if let denied, denied.contains(record) {
            let refusal = Outcome(
                .declined, cvm: .noCVM, uiOnOutcome: UIRequest(.notAuthorised, .notReady), error: final.outcome.error)
            return (FinalOutcome(outcome: refusal, application: final.application), .accountDenied)
        }
        if isSealable(final) { return (final, nil) }
        return (final, final.outcome.status == .declined ? .noCardNumber : .notConcluded)
    }

    private func result(
        of final: FinalOutcome, in seal: consuming OneTimeSeal, armed: TapInstant, _ observed: ObservedReader,
        clock: () -> TapInstant
    ) throws(PaymentTapError) -> PaymentTapResult {
        let cardRead = clock()
        let (final, unsealed) = checked(final)
        let read = try sealedRead(final, seal, secondsSinceArmed: cardRead.nanoseconds(since: armed) / 1_000_000_000)
        return PaymentTapResult(
            final, read: read, unsealed: unsealed,
            issuerUpdate: read == nil ? nil : IssuerUpdateTap(final, announced, transaction, marker),
            choice: ApplicationChoice(final, observed.directory, configuration, transaction),
            phases: TapPhases(
                armed: armed, cardDetected: observed.cardDetected, directoryRead: observed.directoryRead,
                optionsRead: observed.optionsRead, cardRead: cardRead, sealed: read == nil ? cardRead : clock(),
                air: observed.air))
    }

    /// Whether the outcome is one that a host can judge.
    private func isSealable(_ final: FinalOutcome) -> Bool {
        switch final.outcome.status {
        case .onlineRequest, .approved: true
        case .declined: CardRecord.isComplete(final)
        // A card's AAC is its usual answer to a refund: kernels 2 and 8 end the application and leave a record (C-2
        // S910.74).
        case .endApplication: isAnsweredRefund(final)
        case .selectNext, .tryAnotherInterface, .tryAgain: false
        }
    }

    private func isAnsweredRefund(_ final: FinalOutcome) -> Bool {
        transaction.type == .refund && final.outcome.error.l2 == .ok && !final.wantsRestart
            && CardRecord.isComplete(final)
    }

    /// Made before the card is there, so that the customer does not wait for it.
    private func envelope() throws(PaymentTapError) -> OneTimeSeal {
        do throws(EnvelopeError) { return try OneTimeSeal(to: recipient) } catch { throw .sealing(error) }
    }

    /// What the device needs of the number, for a minute, as plaintext in this function only.
    private func sealed(
        _ account: PINAccount, _ final: FinalOutcome, _ binding: CardRecord.Binding
    ) throws(EnvelopeError) -> String? {
        let digits = AccountData(final.outcome.dataRecord ?? []).digits
        // Twelve digits and the check digit: a shorter number has no block of formats 0 and 3.
        guard account.takesWholeNumber || digits.count > 12 else { return nil }
        let plaintext = SecretBytes(capacity: 256) { writer in
            writer.append(text: #"{"v":1"#)
            writer.member(#","txn":"#, text: binding.transaction)
            writer.member(#","iat":"#, number: binding.issuedAt)
            writer.member(#","exp":"#, number: binding.issuedAt &+ 60)
            if account.takesWholeNumber {
                writer.member(#","pan":"#, digits: digits)
            } else {
                writer.member(#","digits":"#, digits: Array(digits.dropLast().suffix(12)))
            }
            writer.append(text: "}")
        }
        return try JWE.seal(plaintext, to: account.recipient)
    }

    /// The record as plaintext lives in this function only. Its five minutes begin when the card was read, however long
    /// it was waited for.
    private func sealedRead(
        _ final: FinalOutcome, _ seal: consuming OneTimeSeal, secondsSinceArmed: UInt64
    ) throws(PaymentTapError) -> PaymentTapResult.SealedRead? {
        guard isSealable(final) else { return nil }
        var binding = binding
        binding.issuedAt &+= secondsSinceArmed
        let final = final.completed(for: transaction, at: announced)
        if let tag = final.missingHostData(for: transaction, at: announced) { throw .missingHostData(tag) }
        let record = try CardRecord(final, binding, marker)
        do throws(EnvelopeError) {
            let sealedAccount = try pinAccount.flatMap { (account) throws(EnvelopeError) in
                account.isWanted(after: final.outcome) ? try sealed(account, final, binding) : nil
            }
            return PaymentTapResult.SealedRead(
                envelope: try seal.seal(record.plaintext), keyID: recipient.keyID, pinAccount: sealedAccount,
                isTest: recipient.isTest, clearTags: record.clearTags, account: record.account,
                mark: record.mark,
                validity: CardValidity(final.outcome.dataRecord ?? [], on: transaction.date))
        } catch {
            throw .sealing(error)
        }
    }
}
