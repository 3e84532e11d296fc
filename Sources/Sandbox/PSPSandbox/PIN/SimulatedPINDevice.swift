// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
public import Envelope
import PINDeviceAPI
import PaymentValues
import StrictJSON

/// A PIN device in software, for tests: it enciphers for real, under published keys, a PIN that it was started with. It has no
/// prompt, so that nobody can use it as a keyboard, and it refuses everything that is not in test mode.
public actor SimulatedPINDevice {
    /// What its customer does.
    public enum Ending: String, CaseIterable, Sendable {
        case enter, cancel, bypass
        case timeOut = "time-out"
        case fail
    }

    /// What was asked for, and what came of it.
    private struct Running {
        let request: PINEntryRequest
        let account: SimulatedAccount?
        let ends: ContinuousClock.Instant
        var result: PINEntry?
    }

    private let key: RecipientPrivateKey
    private let keySet: TestPINKeys.KeySet
    /// 0…9 each.
    private let pin: [UInt8]
    private let ending: Ending
    private let delay: Duration
    private var entries: [PINAttemptID: Running] = [:]
    /// Has no memory of an earlier run, and gives no serial number again.
    private var counter = UInt32.random(in: 0..<1_000_000)
    /// Whether the device is unplugged.
    private var isLost = false

    /// Key sets that it can have.
    public static let keySets = TestPINKeys.KeySet.allCases.map(\.rawValue)

    /// - Parameters:
    ///   - keySet: one of `keySets`.
    ///   - pin: 4 to 12 digits.
    /// - Returns: `nil` for another PIN or key set.
    public init?(
        key: RecipientPrivateKey, keySet: String = "test-aes-dukpt", pin: String = "1234", ending: Ending = .enter,
        delay: Duration = .milliseconds(300)
    ) {
        let digits = pin.utf8.map { $0 &- 0x30 }
        guard (4...12).contains(digits.count), digits.allSatisfy({ $0 < 10 }),
            let keySet = TestPINKeys.KeySet(rawValue: keySet)
        else { return nil }
        self.key = key
        self.keySet = keySet
        self.pin = digits
        self.ending = ending
        self.delay = delay
    }

    var status: PINDeviceStatus {
        var status = PINDeviceStatus(
            model: "SIMULATOR", serial: "SIM-1", simulator: true, accountKeys: [key.keyID].compactMap(\.self),
            keySets: [
                PINDeviceStatus.KeySet(
                    id: keySet.rawValue, formats: keySet.formats.map(\.rawValue), algorithm: keySet.algorithm)
            ], state: isLost ? .notReady : .ready)
        status.languages = ["de", "en"]
        status.accessibility = []
        return status
    }

    /// From now on it does not answer about entries.
    public func lose() { isLost = true }

    /// How many entries it was asked for, and how many of them wait.
    public var count: (asked: Int, waiting: Int) {
        (entries.count, entries.values.count { $0.result == nil })
    }

    // MARK: - Calls

    /// The same request again is the same entry.
    func begin(_ request: PINEntryRequest) -> PINEntry {
        if let running = entries[request.id] {
            return running.request == request ? current(request.id) : PINEntry(id: request.id, state: .failed)
        }
        let account = SimulatedAccount(request, key)
        let ends = ContinuousClock.now + (ending == .timeOut ? .seconds(max(0, request.timeout)) : delay)
        entries[request.id] = Running(request: request, account: account, ends: ends)
        if account == nil { end(request.id, failed("accountUnreadable", request.id)) }
        if request.keySet != keySet.rawValue { end(request.id, failed("noKeys", request.id)) }
        return current(request.id)
    }

    /// - Returns: `nil` for an entry that it does not know, or where it is lost.
    func entry(_ id: PINAttemptID, waiting seconds: Int) async -> PINEntry? {
        let last = ContinuousClock.now + .seconds(max(0, min(30, seconds)))
        while let running = entries[id], !isLost {
            let now = ContinuousClock.now
            if running.result == nil, now >= running.ends { end(id, result(of: running)) }
            guard entries[id]?.result == nil, now < last else {
                defer { forgetPIN(of: id) }
                return current(id)
            }
            // A cancelled sleep means that the device is being stopped.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { return nil }
        }
        return nil
    }

    /// The device stops to ask. One that has ended stays what it is.
    func withdraw(_ id: PINAttemptID) -> PINEntry? {
        guard let running = entries[id] else { return nil }
        if running.result == nil { end(id, PINEntry(id: id, state: .cancelled)) }
        return entries[id]?.result.map { PINEntry(id: id, state: $0.state) }
    }

    private func current(_ id: PINAttemptID) -> PINEntry {
        entries[id]?.result ?? PINEntry(id: id, state: .waiting)
    }

    private func end(_ id: PINAttemptID, _ result: PINEntry) { entries[id]?.result = result }

    /// Forgets the PIN: the device gives a block once.
    private func forgetPIN(of id: PINAttemptID) {
        if let result = entries[id]?.result { end(id, PINEntry(id: id, state: result.state)) }
    }

    private func failed(_ error: String, _ id: PINAttemptID) -> PINEntry {
        var entry = PINEntry(id: id, state: .failed)
        entry.error = error
        return entry
    }

    private func result(of running: Running) -> PINEntry {
        let request = running.request
        switch ending {
        case .cancel: return PINEntry(id: request.id, state: .cancelled)
        case .bypass: return PINEntry(id: request.id, state: .bypassed)
        case .timeOut: return PINEntry(id: request.id, state: .timedOut)
        case .fail: return failed("tampered", request.id)
        case .enter: break
        }
        counter += 1
        let serial = keySet.serial(counter)
        guard let format = PINBlock.Format(rawValue: request.format), keySet.formats.contains(format),
            let account = running.account, account.isWholeNumber == format.takesWholeNumber,
            let pinKey = keySet.pinKey(serial),
            let block = PINBlock.sealed(pin: pin, account: account.digits, format: format, key: pinKey)
        else { return failed("noKeys", request.id) }
        var entry = PINEntry(id: request.id, state: .entered)
        entry.format = request.format
        entry.keySet = request.keySet
        entry.algorithm = keySet.algorithm
        entry.ksn = Hex.string(serial)
        entry.block = Hex.string(block)
        return entry
    }
}

/// What of the card number goes into a block, as the device opens it.
struct SimulatedAccount: Sendable {
    /// 0…9 each.
    let digits: [UInt8]
    let isWholeNumber: Bool

    /// - Returns: `nil` where it does not open, or is about another transaction.
    init?(_ request: PINEntryRequest, _ key: RecipientPrivateKey) {
        guard let plaintext = try? JWE.open(request.account, with: key) else { return nil }
        let found = plaintext.withSpan { SimulatedAccount.digits(in: $0, of: request.transaction) }
        guard let found, found.digits.allSatisfy({ $0 < 10 }) else { return nil }
        (digits, isWholeNumber) = found
    }

    private static func digits(
        in bytes: borrowing Span<UInt8>, of transaction: TransactionID
    ) -> (digits: [UInt8], isWhole: Bool)? {
        guard let index = try? JSONIndex(bytes),
            index.member("txn", in: bytes).flatMap({ index.string($0, in: bytes) }) == transaction.text
        else { return nil }
        let whole = index.member("pan", in: bytes)
        guard let value = whole ?? index.member("digits", in: bytes), let text = index.string(value, in: bytes) else {
            return nil
        }
        return (text.utf8.map { $0 &- 0x30 }, whole != nil)
    }
}
