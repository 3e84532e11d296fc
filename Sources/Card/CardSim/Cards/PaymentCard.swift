// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// A payment card or phone: PPSE, applications, and whatever is odd about it.
public struct PaymentCard: VirtualCard {
    public var activation: CardActivation { profile.activation }

    private var profile: CardProfile
    private var selected: Int?
    private var counts: [CardOddity.Occasion: Int] = [:]

    public init(_ profile: CardProfile) { self.profile = profile }

    public mutating func powerOn() {
        selected = nil
        for index in profile.applications.indices { profile.applications[index].restart() }
    }

    public mutating func answer(_ command: [UInt8]) -> VirtualCardReply {
        if let answer = activation.answer(toPseudoAPDU: command) { return .answer(answer) }
        guard let apdu = try? CommandAPDU(command) else { return paused(StatusWord.wrongLength.bytes) }
        return switch oddity(for: apdu)?.effect {
        case .none: paused(execute(apdu).bytes)
        case .status(let status): paused(status.bytes)
        case .gone: .gone
        case .rewritten(let change): paused(change(execute(apdu).bytes))
        case .late(let milliseconds): .late(execute(apdu).bytes, milliseconds: milliseconds)
        }
    }

    private func paused(_ answer: [UInt8]) -> VirtualCardReply {
        profile.pauseMilliseconds == 0 ? .answer(answer) : .late(answer, milliseconds: profile.pauseMilliseconds)
    }

    private mutating func oddity(for command: CommandAPDU) -> CardOddity? {
        let occasion = PaymentCard.occasion(of: command)
        counts[.any, default: 0] += 1
        if let occasion { counts[occasion, default: 0] += 1 }
        return profile.oddities.first {
            ($0.occasion == .any || $0.occasion == occasion) && $0.times.contains(counts[$0.occasion, default: 0])
        }
    }

    private static func occasion(of command: CommandAPDU) -> CardOddity.Occasion? {
        switch command.ins {
        case 0xA4: command.data == DirectoryEntry.directoryName ? .selectDirectory : .selectApplication
        case 0xA8: .getProcessingOptions
        case 0xB2: .readRecord
        case 0xAE: .generateAC
        default: nil
        }
    }

    private mutating func execute(_ command: CommandAPDU) -> ResponseAPDU {
        if command.ins == 0xA4 { return select(command) }
        guard let selected else {
            return ResponseAPDU(
                status: PaymentCard.occasion(of: command) == nil
                    ? .instructionNotSupported : .conditionsNotSatisfied)
        }
        if command.ins == 0xB2, let record = fixedRecord(command, of: profile.applications[selected]) {
            return record
        }
        return profile.applications[selected].answer(command)
    }

    /// SELECT by DF name (EMV Book 1 §11.3): the PPSE, or the first application whose name begins with the data.
    private mutating func select(_ command: CommandAPDU) -> ResponseAPDU {
        guard command.cla == 0x00 else { return ResponseAPDU(status: .classNotSupported) }
        guard command.p1 == 0x04, command.p2 == 0x00 else { return ResponseAPDU(status: .incorrectParameters) }
        selected = nil
        if command.data == DirectoryEntry.directoryName, let directory = profile.directory {
            return ResponseAPDU(data: DirectoryEntry.fci(directory), status: .success)
        }
        let match = profile.applications.firstIndex { $0.files.name.starts(with: command.data) }
        guard command.data.count >= 5, let match else { return ResponseAPDU(status: .fileNotFound) }
        selected = match
        profile.applications[match].restart()
        return ResponseAPDU(data: profile.applications[match].files.fci, status: .success)
    }

    /// READ RECORD (EMV Book 3 §6.5.11) of a record that is the same in every transaction; `nil` for any other.
    private func fixedRecord(_ command: CommandAPDU, of application: any PaymentApplication) -> ResponseAPDU? {
        guard command.cla == 0x00, command.data.isEmpty, command.p2 & 0x07 == 0x04 else { return nil }
        return application.files.records[.init(command.p2 >> 3, command.p1)].map {
            ResponseAPDU(data: $0, status: .success)
        }
    }
}

extension StatusWord {
    static let classNotSupported: StatusWord = 0x6E00
    static let incorrectParameters: StatusWord = 0x6A86
    static let wrongParameters: StatusWord = 0x6B00
}
