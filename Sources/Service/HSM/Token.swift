// SPDX-License-Identifier: Apache-2.0
import CPKCS11
public import CardBytes
import Crypto
public import Envelope
import Synchronization

/// Keys in a PKCS#11 token, used by several sessions at a time. The private keys never leave it; what two keys agree on does, because no
/// token does JWE's key derivation (RFC 7518 §4.6.2), and stays in locked memory until the envelope is open.
public final class Token: TokenKeys {
    private let settings: TokenSettings
    private let workers: [TokenWorker]
    let load: Mutex<TokenLoad<TokenJob>>
    private let patience: Patience
    /// With envelopes that wait for their turn.
    private let turns: Patience

    /// Loads the module. The token is asked when there is something to ask.
    public init(_ settings: TokenSettings) throws(TokenError) {
        var settings = settings
        let (told, note) = (ToldOnce(), settings.noteOpenKey)
        settings.noteOpenKey = { label in if told.isFirst(label) { note(label) } }
        let access = try TokenAccess(settings)
        var workers: [TokenWorker] = []
        for number in 1...min(max(settings.sessions, 1), 32) { workers.append(try TokenWorker(access, number: number)) }
        self.settings = settings
        self.workers = workers
        load = Mutex(TokenLoad(sessions: workers.count))
        patience = Patience(settings.limit)
        turns = Patience(settings.wait)
    }

    /// Closes the sessions. A call after it opens them again.
    public func close() async {
        for worker in workers { await worker.close() }
    }

    // MARK: - Envelopes

    public func recipients() async throws(TokenError) -> RecipientKeySet {
        let keys = settings.recipients
        return try await run { (session) throws(TokenFailure) in
            var all: [RecipientKey] = []
            for key in keys { all.append(try session.recipient(key)) }
            return RecipientKeySet(keys: all)
        }
    }

    public func usableRecipients() async throws(TokenError) -> (keys: RecipientKeySet, faults: [TokenError]) {
        let keys = settings.recipients
        return try await run { (session) throws(TokenFailure) in
            var (all, faults): ([RecipientKey], [TokenError]) = ([], [])
            for key in keys {
                do throws(TokenFailure) { all.append(try session.recipient(key)) } catch {
                    switch error {
                    case .error(.unknownKey(let name)): faults.append(.unknownKey(name))
                    case .error(.unfitKey(let label, let fault)): faults.append(.unfitKey(label, fault))
                    case .error, .code: throw error
                    }
                }
            }
            if let first = faults.first, all.isEmpty {
                // No envelope has named it: it is one that this machine lacks.
                if case .unknownKey(let label) = first { throw .error(.unfitKey(label, .missing)) }
                throw .error(first)
            }
            // Without these no payment can be taken, whatever opens.
            try session.findOwnKeys()
            return (RecipientKeySet(keys: all), faults)
        }
    }

    public func open(_ envelope: String) async throws(TokenError) -> SecretBytes {
        let (received, key) = try checked(envelope)
        guard let point = received.ephemeralPoint else {
            let contentKey = try await contentKey(received.encryptedKey, key)
            return try Self.opened { () throws(EnvelopeError) in try received.open(contentKey: contentKey) }
        }
        let secret = try await run(.first) { (session) throws(TokenFailure) in
            let found = try session.key(key)
            return try session.call(.derive, of: key.label) { (calls) throws(TokenCode) in
                try calls.agree(found.object, point: point)
            }
        }
        return try Self.opened { () throws(EnvelopeError) in try received.open(agreed: secret) }
    }

    public func open(
        _ envelope: String, codeOf message: @escaping @Sendable (SecretBytes) -> SecretBytes?
    ) async throws(TokenError) -> (content: SecretBytes, code: [UInt8]?) {
        let (received, key) = try checked(envelope)
        guard let point = received.ephemeralPoint, let naming = settings.cardTokens else {
            let content = try await open(envelope)
            guard let message = message(content) else { return (content, nil) }
            return (content, try await code(of: message))
        }
        let (content, code) = try await run(.first) { (session) throws(TokenFailure) -> (SecretBytes, [UInt8]?) in
            try session.findOwnKeys()
            let found = try session.key(key)
            let secret = try session.call(.derive, of: key.label) { (calls) throws(TokenCode) in
                try calls.agree(found.object, point: point)
            }
            let content: SecretBytes
            do throws(EnvelopeError) { content = try received.open(agreed: secret) } catch {
                throw .error(.envelope(error))
            }
            guard let message = message(content) else { return (content, nil) }
            return (content, try session.code(of: message, naming))
        }
        return (content, code)
    }

    /// Everything that can be said of an envelope before the token is asked: an attacker pays less for one than the token does.
    private func checked(_ envelope: String) throws(TokenError) -> (ReceivedEnvelope, TokenKey) {
        guard envelope.utf8.count <= mostEnvelopeBytes else { throw .envelope(.malformedToken) }
        let received: ReceivedEnvelope
        do throws(EnvelopeError) { received = try ReceivedEnvelope(envelope) } catch { throw .envelope(error) }
        guard let keyID = received.keyID else { throw .envelope(.malformedHeader(member: "kid")) }
        guard let key = settings.recipients.first(where: { $0.keyID == keyID }) else { throw .unknownKey(keyID) }
        let count = received.encryptedKey.count
        switch received.algorithm {
        case .ecdhES, .ecdhESA256KW:
            guard key.kind == .p256, received.ephemeralPoint != nil else { throw .envelope(.wrongKey) }
            // A wrapped key of 32 bytes has 40 (RFC 3394 §2.2.1).
            guard count == (received.algorithm == .ecdhES ? 0 : 40) else { throw .envelope(.malformedToken) }
        case .rsaOAEP256:
            guard key.kind == .rsa else { throw .envelope(.wrongKey) }
            guard (256...1_024).contains(count) else { throw .envelope(.malformedToken) }
        }
        return (received, key)
    }

    /// - Returns: the content key; for what is wrong, another one, with which the envelope does not open, after the same work.
    private func contentKey(_ ciphertext: [UInt8], _ key: TokenKey) async throws(TokenError) -> SecretBytes {
        let allowsRawRSA = settings.allowsRawRSA
        let instead = SecretBytes(capacity: 32) { for _ in 0..<32 { $0.append(UInt8.random(in: 0...255)) } }
        return try await run(.first) { (session) throws(TokenFailure) in
            let found = try session.key(key)
            guard ciphertext.count == found.modulus else { throw .error(.envelope(.malformedToken)) }
            if !session.refusesOAEP {
                do throws(TokenCode) {
                    let opened = try session.calls.decrypt(ciphertext, mechanism: CKM_RSA_PKCS_OAEP, key: found.object)
                    return opened.flatMap { $0.count == 32 ? $0 : nil } ?? instead
                } catch {
                    guard !error.isOfUse else { throw .error(.unfitKey(key.label, .forbidden(.decrypt))) }
                    guard error.isOfMechanism, allowsRawRSA else { throw .code(error) }
                    session.refusesOAEP = true
                }
            }
            let block = try session.call(.decrypt, of: key.label) { (calls) throws(TokenCode) in
                try calls.decrypt(ciphertext, mechanism: CKM_RSA_X_509, key: found.object)
            }
            return OAEP.contentKey(block ?? SecretBytes([]), size: found.modulus, instead: instead)
        }
    }

    private static func opened(
        _ open: () throws(EnvelopeError) -> SecretBytes
    ) throws(TokenError) -> SecretBytes {
        do throws(EnvelopeError) { return try open() } catch { throw .envelope(error) }
    }

    /// Opens a fresh envelope for each recipient: whoever publishes the keys knows then that their private halves are here.
    public func prove() async throws(TokenError) {
        for recipient in try await recipients().keys {
            let text = SecretBytes(capacity: 32) { for _ in 0..<32 { $0.append(UInt8.random(in: 0...255)) } }
            let sealed: String
            do throws(EnvelopeError) { sealed = try JWE.seal(text, to: recipient) } catch { throw .envelope(error) }
            guard SecretBytes.constantTimeEqual(try await open(sealed), text) else { throw .envelope(.notAuthentic) }
        }
    }

    // MARK: - Books and names of cards

    /// - Throws: why the key of the books cannot be used.
    public func code(of message: SecretBytes) async throws(TokenError) -> [UInt8] {
        guard let key = settings.cardTokens else { throw .unknownKey("card tokens") }
        return try await run { (session) throws(TokenFailure) in try session.code(of: message, key) }
    }

    /// The code of a message, made in the token.
    ///
    /// - Throws: `envelope` for a wrapped key that is damaged; else why the key cannot be used.
    public func code(of message: [UInt8], with key: MessageKey) async throws(TokenError) -> [UInt8] {
        try await run { (session) throws(TokenFailure) in try session.code(of: message, with: key) }
    }

    public func seal(_ content: SecretBytes, for name: String) async throws(TokenError) -> [UInt8] {
        guard let prefix = settings.books else { throw .unknownKey("books") }
        return try await run { (session) throws(TokenFailure) in
            let (label, key) = try session.currentBook(prefix)
            guard label.utf8.count <= 255 else { throw .error(.unfitKey(label, .otherKind)) }
            let nonce = RowSeal.freshNonce()
            let sealed = try session.call(.encrypt, of: label) { (calls) throws(TokenCode) in
                try calls.encrypt(
                    content, nonce: nonce, associated: RowSeal.associated(label, name), key: key.object)
            }
            return RowSeal.head(label) + nonce + sealed
        }
    }

    public func unseal(_ sealed: [UInt8], for name: String) async throws(TokenError) -> SecretBytes {
        guard let prefix = settings.books else { throw .unknownKey("books") }
        guard let seal = RowSeal(sealed) else { throw .envelope(.malformedToken) }
        return try await run { (session) throws(TokenFailure) in
            let key = try session.book(seal.label, prefix)
            do throws(TokenCode) {
                return try session.calls.decrypt(
                    seal.ciphertext, nonce: seal.nonce, associated: RowSeal.associated(seal.label, name),
                    key: key.object)
            } catch {
                // What the key may not do says nothing of the seal.
                guard !error.isOfUse else { throw .error(.unfitKey(seal.label, .forbidden(.decrypt))) }
                // SoftHSM 2.6.1 calls a wrong tag a general error.
                guard error.loss == nil || [CKR_GENERAL_ERROR, CKR_FUNCTION_FAILED].contains(Int(error.number)) else {
                    throw .code(error)
                }
                throw .error(.envelope(.notAuthentic))
            }
        }
    }

    // MARK: - Statements

    public func verificationKey() async throws(TokenError) -> VerificationKey {
        guard let key = settings.signer else { throw .unknownKey("signer") }
        return try await run { (session) throws(TokenFailure) in try session.verificationKey(key) }
    }

    public func sign(_ payload: [UInt8], type: String) async throws(TokenError) -> String {
        guard let key = settings.signer else { throw .unknownKey("signer") }
        let statement = UnsignedStatement(payload, keyID: key.keyID, type: type)
        let digest = SecretBytes(Array(SHA256.hash(data: statement.bytes)))
        return try await run { (session) throws(TokenFailure) in
            let found = try session.key(key)
            let signature = try session.call(.sign, of: key.label) { (calls) throws(TokenCode) in
                try calls.sign(digest, mechanism: CKM_ECDSA, key: found.object)
            }
            let own = try session.verificationKey(key)
            // A public half that belongs to another key is found here, and not by those who have to believe the statement.
            do throws(JWSError) { return try statement.signed(signature, by: own) } catch {
                throw .error(.unfitKey(key.label, .noPublicHalf))
            }
        }
    }

    // MARK: - Making keys

    /// Makes a key that cannot leave the token, if the settings allow it. Nothing is made where the label is taken.
    ///
    /// - Parameter signs: whether a pair signs, or a secret key makes codes; else the pair agrees on secrets, and the key encrypts.
    public func make(_ key: TokenKey, signs: Bool) async throws(TokenError) {
        try await run { (session) throws(TokenFailure) in
            let isTaken = try session.call { (calls) throws(TokenCode) in
                for kind in [CKO_PRIVATE_KEY, CKO_PUBLIC_KEY, CKO_SECRET_KEY] {
                    if try calls.find(kind, label: key.label).count > 0 { return true }
                }
                try calls.make(key, signs: signs)
                return false
            }
            if isTaken { throw .error(.unfitKey(key.label, .ambiguous)) }
        }
    }

    // MARK: - Sessions

    func run<Answer: Sendable>(
        _ kind: TokenLoad<TokenJob>.Kind = .following,
        _ work: @escaping @Sendable (inout LiveSession) throws(TokenFailure) -> Answer
    ) async throws(TokenError) -> Answer {
        let first = FirstAnswer<Result<Answer, TokenError>>()
        let patience = patience
        let job = TokenJob { worker, end in
            // Its own time counts from here; the one of its turn is over.
            guard first.begin() else { return false }
            patience.watch { [weak first] in first?.give(.failure(.unavailable(.tooSlow))) }
            worker.perform(while: { first.isOpen }, work) { result, time in
                first.give(result)
                end(time)
            }
            return true
        }
        let (most, limit) = (settings.mostWaiting, turns.nanoseconds)
        switch load.withLock({ $0.admit(job, kind, most: most, limit: limit) }) {
        case .refused: throw .unavailable(.busy)
        case .begins(let session): start(job, kind, session)
        case .waits:
            (kind == .first ? turns : patience).watch { [weak first] in
                first?.give(.failure(.unavailable(.busy)), unlessBegun: true)
            }
        }
        return try await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.give(.failure(.unavailable(.abandoned)))
        }.get()
    }

    /// Begins it, or the next one that somebody still wants.
    private func start(_ job: TokenJob, _ kind: TokenLoad<TokenJob>.Kind, _ session: Int) {
        var (job, kind) = (job, kind)
        while true {
            let begun = kind
            let isWanted = job.begin(workers[session]) { time in
                let next = self.load.withLock { load in
                    if let time { load.note(begun, took: time) }
                    return load.next(for: session)
                }
                if let next { self.start(next.job, next.kind, session) }
            }
            guard !isWanted, let next = load.withLock({ $0.next(for: session) }) else { return }
            (job, kind) = next
        }
    }
}

/// What is to be done in a session.
struct TokenJob: Sendable {
    /// Told the session, and whom to tell when it is done: how many nanoseconds it took, `nil` where it was left. Whether it begins: else nobody wants it, and
    /// nobody is told.
    let begin: @Sendable (TokenWorker, _ end: @escaping @Sendable (UInt64?) -> Void) -> Bool
}

/// Labels that somebody was told of.
private final class ToldOnce: Sendable {
    private let labels = Mutex<Set<String>>([])

    func isFirst(_ label: String) -> Bool { labels.withLock { $0.insert(label).inserted } }
}

/// The first of several answers; later ones are dropped.
final class FirstAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, Never>)
        case given(Value)
    }

    private let state = Mutex(State.open)
    private let hasBegun = Mutex(false)

    /// - Returns: whether somebody still wants to know; then nothing is given by `unlessBegun` any more.
    func begin() -> Bool {
        hasBegun.withLock { $0 = true }
        return isOpen
    }

    func give(_ value: Value, unlessBegun: Bool = false) {
        if unlessBegun, hasBegun.withLock({ $0 }) { return }
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .given: return nil
            case .open:
                state = .given(value)
                return nil
            case .awaited(let continuation):
                state = .given(value)
                return continuation
            }
        }
        waiting?.resume(returning: value)
    }

    /// Whether somebody still wants to know.
    var isOpen: Bool {
        state.withLock { state in
            if case .given = state { false } else { true }
        }
    }

    /// For one caller.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let given = state.withLock { state -> Value? in
                if case .given(let value) = state { return value }
                state = .awaited(continuation)
                return nil
            }
            if let given { continuation.resume(returning: given) }
        }
    }
}
