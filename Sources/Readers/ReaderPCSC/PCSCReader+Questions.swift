// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ReaderCore
import ReaderModels

extension PCSCReader {
    /// UID and ATS by the pseudo-APDUs of PC/SC part 3 (§3.2.2.1.3, GET DATA), which the reader answers itself. A payment needs
    /// neither. A driver that fails on one has often lost the card with it: that card is activated again, and soon not asked.
    ///
    /// - Throws: `.cardLost` where the card has to be activated again.
    func identify(
        _ activation: CardActivation, _ counter: UInt16
    ) throws(PCSCFailure) -> CardActivation {
        questions.begin(counter)
        var activation = activation
        if let uid = try getData(p1: 0x00) {
            activation.uid = uid
            let takesCommands = activation.sak.map { $0 & 0x20 != 0 } ?? true
            if activation.technology == .typeA, takesCommands, let answerToSelect = try getData(p1: 0x01) {
                activation.answerToSelect = answerToSelect
            }
        }
        questions.answered()
        return activation
    }

    /// - Returns: `nil` where the reader does not support it.
    private func getData(p1: UInt8) throws(PCSCFailure) -> [UInt8]? {
        guard questions.mayAsk(p1) else { return nil }
        do throws(PCSCFailure) {
            var answer = try ask([0xFF, 0xCA, p1, 0x00, 0x00])
            // The length that the reader wants is the last byte (ISO/IEC 7816-4 §5.6).
            if answer.count == 2, answer[0] == 0x6C { answer = try ask([0xFF, 0xCA, p1, 0x00, answer[1]]) }
            guard answer.count >= 2 else { throw PCSCFailure(.transmit, 0, meaning: .cardLost) }
            // 6282: all that there is, and less than was asked for (PC/SC part 3, table of GET DATA).
            let isWhole = [[0x90, 0x00], [0x62, 0x82]].contains(Array(answer.suffix(2)))
            return isWhole && answer.count > 2 ? answer.dropLast(2) : nil
        } catch {
            questions.failed(p1)
            switch error.meaning {
            case .connectionLost, .notRunning, .otherVersion, .readerGone, .readerUnavailable: throw error
            case .cardLost, .mute, .otherProtocol, .inUse, .accessDenied, .cancelled, .timedOut, .stuck, .other:
                if error.meaning == .stuck {
                    // The connection had to be severed.
                    transaction = nil
                    talking = try SmartCardContext(guardedBy: callGuard)
                }
                throw PCSCFailure(error.call, error.code, meaning: .cardLost)
            }
        }
    }

    private func ask(_ command: [UInt8]) throws(PCSCFailure) -> [UInt8] {
        try send(command, until: monotonicNow().advanced(byMilliseconds: CallLimit.connect.rawValue))
    }
}

extension PCSCReader {
    /// By the reader's name.
    var slot: PCSCReaderName.Slot { PCSCReaderName(identity.name).slot }

    func mayBeContactless(_ atr: [UInt8]) -> Bool { ContactlessATR.mayBeContactless(atr, in: slot) }
}
