// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import LocalHTTP
import PINDeviceAPI
import POSAPI
import PaymentValues
import Synchronization

@testable import TapDaemon

/// What a PIN device's driver can do wrong, or whoever has put himself in its place.
enum PINDeviceLinkFault: String, CaseIterable, Sendable {
    /// About another entry: as it begins, and as it ends.
    case otherIDAtFirst, otherID
    /// A good block of an earlier sale, under this entry's id.
    case olderBlock
    /// Two answers to one question: the same one, and another one behind it.
    case sameTwice, cancelledThenEntered
    /// The till has cancelled, and the device was told to stop.
    case enteredAfterCancel
    case halfLine, halfBody, longLine, longBody, noJSON, closesAtFirst, closes, otherStatus, unknownState
    /// Until the daemon gives up: the request, and the question what became of it.
    case silentAtFirst, silent
    case shortBlock, longBlock, noBlock, noDigits, longSerial
    case otherFormat, otherKeySet, otherAlgorithm
    /// Of the right size, and nothing that opens.
    case otherKey, otherAccount, clearDigits
    /// What is enciphered, in clear: too short for a block, and in the form of one.
    case clearPIN, clearField

    /// How the sale ends, that a card or an issuer wanted the PIN of.
    func end(_ cause: PINNotice.Cause) -> (state: TransactionState, code: String?, response: String?) {
        switch self {
        case .sameTwice: (.approved, nil, "00")
        case .cancelledThenEntered, .enteredAfterCancel:
            cause == .kernel ? (.cancelled, nil, nil) : (.declined, nil, "70")
        case .olderBlock: (.declined, nil, "94")
        // Whoever opens it finds another PIN, or none; it is asked for as often as the issuer allows.
        case .otherKey, .otherAccount, .clearDigits: (.declined, nil, cause == .kernel ? "75" : "55")
        case .otherIDAtFirst, .otherID, .halfLine, .halfBody, .longLine, .longBody, .noJSON, .closesAtFirst, .closes,
            .otherStatus, .unknownState, .silentAtFirst, .silent, .shortBlock, .longBlock, .noBlock, .noDigits,
            .longSerial, .otherFormat, .otherKeySet, .otherAlgorithm, .clearPIN, .clearField:
            cause == .kernel ? (.failed, "pin.device_failed", nil) : (.declined, "pin.device_failed", "70")
        }
    }

    /// What an honest answer becomes.
    fileprivate func change(_ entry: inout PINEntry, older: PINEntry?) {
        switch self {
        case .otherIDAtFirst, .otherID: entry.id = PINAttemptID()
        case .olderBlock: (entry.ksn, entry.block) = (older?.ksn, older?.block)
        case .shortBlock: entry.block = entry.block.map { String($0.dropLast()) }
        case .longBlock: entry.block = entry.block.map { $0 + "00" }
        case .noBlock: entry.block = nil
        case .noDigits: entry.block = entry.block.map { "G" + $0.dropFirst() }
        case .longSerial: entry.ksn = String(repeating: "0", count: 33)
        case .otherFormat: entry.format = 3
        case .otherKeySet: entry.keySet = "test-tdes-dukpt"
        case .otherAlgorithm: entry.algorithm = "ROT-13"
        case .otherKey: entry.ksn = Hex.string(TestPINKeys.KeySet.aes.serial(.random(in: 2_000_000..<3_000_000)))
        case .otherAccount:
            let serial = entry.ksn.flatMap { try? Hex.bytes($0) }
            let key = serial.flatMap { TestPINKeys.KeySet.aes.pinKey($0) }
            let account = [UInt8](repeating: 4, count: 16)
            entry.block = key.flatMap {
                PINBlock.sealed(pin: [1, 2, 3, 4], account: account, format: .four, key: $0)
            }.map { Hex.string($0) }
        case .clearDigits: entry.block = "48213957" + String(repeating: "0", count: 24)
        case .clearPIN: entry.block = "48213957"
        case .clearField: entry.block = "4848213957AAAAAA2F69ADDE2E9E7ACE"
        case .sameTwice, .cancelledThenEntered, .enteredAfterCancel, .halfLine, .halfBody, .longLine, .longBody,
            .noJSON,
            .closesAtFirst, .closes, .otherStatus, .unknownState, .silentAtFirst, .silent:
            break
        }
    }
}

/// Between a daemon and a device that is honest, for as long as it lies.
final class LyingDevice: Sendable {
    let fault: PINDeviceLinkFault
    private let isLying = Atomic(false)
    private let wasWithdrawn = Atomic(false)
    /// The block of an earlier sale.
    private let older = Mutex<PINEntry?>(nil)

    init(_ fault: PINDeviceLinkFault) { self.fault = fault }

    func lie(_ lies: Bool) { isLying.store(lies, ordering: .relaxed) }

    func turn(_ request: HTTPRequest, _ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse {
        guard request.path.contains("pin-entries") else { return await pass() }
        guard isLying.load(ordering: .relaxed) else { return remembered(await pass()) }
        switch request.method {
        case .post: return await begin(pass)
        case .get: return await end(pass)
        default:
            wasWithdrawn.store(true, ordering: .relaxed)
            return await pass()
        }
    }

    private func remembered(_ response: HTTPResponse) -> HTTPResponse {
        if let entry = Self.entry(response), entry.state == .entered { older.withLock { $0 = entry } }
        return response
    }

    private func begin(_ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse {
        switch fault {
        case .otherIDAtFirst: return changed(await pass())
        case .closesAtFirst: return .nothing
        case .silentAtFirst:
            try? await Task.sleep(for: .seconds(30))
            return .nothing
        default: return await pass()
        }
    }

    private func end(_ pass: @Sendable () async -> HTTPResponse) async -> HTTPResponse {
        let honest = await pass()
        let text = Self.text(honest)
        switch fault {
        case .sameTwice: return .verbatim(Self.message(text) + Self.message(text))
        case .cancelledThenEntered:
            let cancelled = Self.entry(honest).map { PINEntry(id: $0.id, state: .cancelled) }
            return .verbatim(Self.message(Self.text(of: cancelled)) + Self.message(text))
        case .enteredAfterCancel:
            while !wasWithdrawn.load(ordering: .relaxed) {
                do { try await Task.sleep(for: .milliseconds(5)) } catch { return .nothing }
            }
            return honest
        case .halfLine: return .verbatim("HTTP/1.1 200 O")
        case .halfBody: return .verbatim(String(Self.message(text).dropLast(20)))
        case .longLine: return .verbatim(Self.message(text, "X-Pad: \(String(repeating: "a", count: 100_000))\r\n"))
        case .longBody:
            let pad = #","pad":"\#(String(repeating: "a", count: 20_000))"}"#
            return .verbatim(Self.message(String(text.dropLast()) + pad))
        case .noJSON: return .text(200, "entered, \(text.dropFirst())")
        case .closes: return .nothing
        case .otherStatus: return .text(202, text)
        case .unknownState: return .text(200, text.replacing(#""entered""#, with: #""enteredWell""#))
        case .silent:
            try? await Task.sleep(for: .seconds(60))
            return .nothing
        default: return changed(honest)
        }
    }

    private func changed(_ response: HTTPResponse) -> HTTPResponse {
        guard var entry = Self.entry(response) else { return response }
        fault.change(&entry, older: older.withLock { $0 })
        return .text(response.status, Self.text(of: entry))
    }

    private static func entry(_ response: HTTPResponse) -> PINEntry? {
        try? WireJSON.decode(PINEntry.self, from: Array(text(response).utf8))
    }

    private static func text(_ response: HTTPResponse) -> String {
        if case .bytes(let bytes) = response.body { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    private static func text(of entry: PINEntry?) -> String {
        entry.flatMap { try? WireJSON.encode($0) }.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private static func message(_ body: String, _ fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }
}
