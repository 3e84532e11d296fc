// SPDX-License-Identifier: Apache-2.0
import CardBytes
import CardSim
import EMV
import Explain
import Foundation
import ReaderCore
import TestSupport

/// The transcripts under `Tests/Transcripts`, with the text that replay and explanation give for each.
enum Recordings {
    static let root = Checkout.file("Tests/Transcripts").resolvingSymlinksInPath()

    /// Rewrites what is kept instead of comparing it (`make bless`).
    static let isBlessing = ProcessInfo.processInfo.environment["NFC_TAP_BLESS"] == "1"

    static var names: [String] {
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
        return files.filter { $0.hasSuffix(".tap") }.sorted()
    }

    static func transcript(_ name: String) throws -> Transcript {
        try Transcript(parsing: String(contentsOf: root.appending(path: name), encoding: .utf8))
    }

    static func run(_ name: String) throws -> ReplayRun {
        let transcript = try transcript(name)
        guard let terminal = Terminals.configuration(named: transcript["terminal"] ?? "") else {
            throw UnknownTerminal(name: name)
        }
        return try ReplayRun(
            transcript, configuration: terminal, authentication: Terminals.authentication, kernels: kernels(of: name))
    }

    /// The program that recorded the Mastercards left bit 7 of the CVM code out of 9F34; two other sources keep it.
    static func kernels(of name: String) -> KernelSet {
        var kernels = KernelSet.standard
        if name.hasPrefix("mastercard/") {
            kernels.register(.mastercard) { Kernel2(options: Kernel2Options(masksCVMCode: true)) }
        }
        return kernels
    }

    struct UnknownTerminal: Error { let name: String }
}

/// Plays a simulated card to a reader's caller.
final class SimulatedReader: CardReader {
    let identity = ReaderIdentity(name: "simulated", model: "simulated", driver: .virtual)
    private var card: any VirtualCard

    init(_ card: any VirtualCard) { self.card = card }

    func activate(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) -> CardPresence {
        card.powerOn()
        return .card(card.activation)
    }

    func transmit(_ command: CommandAPDU, until deadline: TapInstant) throws(ReaderError) -> ResponseAPDU {
        switch card.answer(command.bytes) {
        case .answer(let bytes), .late(let bytes, _):
            do { return try ResponseAPDU(bytes) } catch { throw .cardLost }
        case .gone: throw .cardLost
        }
    }

    func release() {}
    func waitForRemoval(until deadline: TapInstant, cancellation: TapCancellation) throws(ReaderError) {}
    func check() {}
    func show(_ feedback: ReaderFeedback) {}
    func close() {}
}
