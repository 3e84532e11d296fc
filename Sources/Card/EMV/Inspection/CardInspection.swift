// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads what a payment card tells anybody: directory, and for each application FCI, processing options and records.
///
/// No payment: nothing is authorised, and GENERATE AC is never sent. A card that computes its cryptogram in GET
/// PROCESSING OPTIONS (Visa and others) still counts one transaction in its ATC each time that it is read.
///
/// A card that is lost is read again, for three presentations by a person: at the edge of the field it is lost many times in each.
/// Where the caller's own wait for a card ends, `stop` gives what was found until then.
public struct CardInspection: TapMachine, ~Copyable {
    public typealias Signal = UIRequest
    public typealias Outcome = CardInspectionOutcome

    private enum State {
        case idle, awaitingCard, directory, selecting, processing, reading, finished
    }

    private struct Record {
        let sfi: UInt8
        let number: UInt8
    }

    private var state = State.idle
    private let terminal: InspectingTerminal
    private var waiting: [PPSEEntry] = []
    private var current: InspectedApplication?
    private var done: [InspectedApplication] = []
    private var records: [Record] = []
    private var sfiBeingRead: UInt8?
    /// Whether an answer of the current application was no BER-TLV.
    private var isMalformed = false
    private var watch = PresentationWatch()
    private var failedPresentations = 0
    /// Whether the holder of the card that was lost has been asked for it.
    private var isAskedAgain = false
    /// A presentation has come to nothing since.
    private var isToAsk = false
    /// What lies there takes no commands, by the reader's word.
    private var isTarget = false
    /// Whether a card, or something that is none, was there.
    public private(set) var hasMetCard = false

    /// Presentations that may come to nothing.
    static let maximumPresentations = 3

    /// - Parameter terminalData: values for the PDOL, in the lengths of the dictionary; a tag that is missing is
    ///   answered with zero bytes.
    public init(terminalData: [DataObject]) {
        terminal = InspectingTerminal(data: terminalData, configuration: nil)
    }

    /// Looks at the card as a terminal does that takes payments: what its kernels would say of it.
    ///
    /// - Parameter data: values of this look, such as date and amount; they come before those of the configuration.
    public init(terminal: TerminalConfiguration, data: [DataObject]) {
        self.terminal = InspectingTerminal(data: data, configuration: terminal)
    }

    public mutating func start(now: TapInstant) -> Step {
        state = .awaitingCard
        return Step(
            .activate(fieldOffMilliseconds: 0), signals: [UIRequest(.presentCard, .readyToRead)])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> Step {
        guard case .awaitingCard = state else { return finish(.torn) }
        countEnded(at: now)
        isTarget = card.takesCommands == false
        // What takes no commands is no try; that it takes none is a guess with some readers.
        if !isTarget { watch.cardFound(at: now) }
        (hasMetCard, done) = (true, [])
        state = .directory
        return Step(.transmit(SelectCommand.directory))
    }

    public mutating func collided(now: TapInstant) -> Step {
        guard case .awaitingCard = state else { return finish(.torn) }
        return Step(
            .activate(fieldOffMilliseconds: 0), signals: [UIRequest(.presentOneCardOnly, .processingError)])
    }

    public mutating func fieldEmptied(now: TapInstant) -> Step {
        guard case .awaitingCard = state else { return finish(.torn) }
        watch.fieldEmptied(at: now)
        return Step(.activate(fieldOffMilliseconds: 0), signals: watch.due == nil ? [] : askAgain())
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> Step {
        switch state {
        case .directory:
            guard response.status.isSuccess else { return finish(.noDirectory(response.status)) }
            waiting = PPSEEntry.entries(ofPPSE: response.data)
            return waiting.isEmpty ? finish(.emptyDirectory) : selectNext()
        case .selecting: return selected(response)
        case .processing: return processed(response)
        case .reading: return recordRead(response)
        case .idle, .awaitingCard, .finished: return finish(.torn)
        }
    }

    public mutating func cardLost(now: TapInstant) -> Step {
        close(.torn)
        switch state {
        case .directory, .selecting, .processing, .reading: break
        case .idle, .awaitingCard, .finished: return finish(.torn)
        }
        state = .awaitingCard
        let again = Step.Action.activate(fieldOffMilliseconds: PresentationWatch.pace)
        guard !isTarget else {
            let isDue = watch.targetFound(at: now)
            return Step(
                again, signals: isDue ? [UIRequest(.insertSwipeOrTryAnotherCard, .processingError)] : [])
        }
        watch.readFailed()
        countEnded(at: now)
        guard failedPresentations < Self.maximumPresentations else { return finish(.torn) }
        defer { isToAsk = false }
        return Step(again, signals: isToAsk ? askAgain() : [])
    }

    private mutating func countEnded(at now: TapInstant) {
        guard watch.ended(at: now) != nil else { return }
        failedPresentations += 1
        (isAskedAgain, isToAsk) = (false, true)
    }

    /// Once for each presentation.
    private mutating func askAgain() -> [UIRequest] {
        guard !isAskedAgain else { return [] }
        isAskedAgain = true
        return [UIRequest(.presentCardAgain, .processingError)]
    }

    public mutating func stop(now: TapInstant) -> CardInspectionOutcome {
        close(.torn)
        state = .finished
        return CardInspectionOutcome(applications: done, end: .torn)
    }

    private mutating func selectNext() -> Step {
        guard !waiting.isEmpty else { return finish(.complete) }
        let entry = waiting.removeFirst()
        current = InspectedApplication(entry)
        isMalformed = false
        state = .selecting
        return Step(.transmit(SelectCommand.command(entry.adfName)))
    }

    private mutating func selected(_ response: ResponseAPDU) -> Step {
        guard response.status.isSuccess else {
            close(.notSelected(response.status))
            return selectNext()
        }
        guard keep(response.data) else { return malformed() }
        var pdol = DOL(entries: [])
        if let bytes = current?.objects.last(where: { $0.tag == .pdol })?.value {
            do throws(DOLError) { pdol = try DOL(bytes) } catch { return malformed() }
        }
        let aid = current?.adfName ?? []
        let values = pdol.fill { tag in terminal.value(of: tag, for: aid) }
        guard values.count <= 252 else { return malformed() }
        state = .processing
        var data = TLVWriter()
        data.append(.commandTemplate, values)
        return Step(.transmit(ShortCommand.make(0x80, 0xA8, 0x00, 0x00, data.bytes)))
    }

    private mutating func processed(_ response: ResponseAPDU) -> Step {
        guard response.status.isSuccess else {
            close(.notProcessed(response.status))
            return selectNext()
        }
        // Format 1: AIP and AFL without tags (EMV Book 3 §6.5.8.4).
        if response.data.first == 0x80 {
            let value: [UInt8]
            do throws(TLVError) {
                guard let node = try TLV.children(response.data).first else { return malformed() }
                value = Array(response.data[node.value])
            } catch { return malformed() }
            guard value.count >= 2 else { return malformed() }
            current?.objects.append(DataObject(.aip, Array(value[..<2])))
            current?.objects.append(DataObject(.afl, Array(value[2...])))
        } else if !keep(response.data) {
            return malformed()
        }
        guard let records = CardInspection.records(of: current?.objects.value(of: .afl) ?? []) else {
            return malformed()
        }
        self.records = records
        return readNext()
    }

    private mutating func recordRead(_ response: ResponseAPDU) -> Step {
        // A record that is not there, or is wrong, is no reason to leave out the others.
        guard response.status.isSuccess, let sfi = sfiBeingRead else { return readNext() }
        // Those of files 11 to 30 are the payment system's own, and may have any form (EMV Book 3 §5.3.2.2).
        let isFree = sfi > 10 && response.data.first != 0x70
        if !isFree, !keep(response.data) { isMalformed = true }
        return readNext()
    }

    private mutating func readNext() -> Step {
        guard !records.isEmpty else {
            close(isMalformed ? .malformed : .complete)
            return selectNext()
        }
        let record = records.removeFirst()
        sfiBeingRead = record.sfi
        state = .reading
        return Step(.transmit(ShortCommand.make(0x00, 0xB2, record.number, record.sfi << 3 | 0x04, [])))
    }

    private mutating func malformed() -> Step {
        close(.malformed)
        return selectNext()
    }

    private mutating func close(_ end: InspectedApplication.End) {
        guard var application = current else { return }
        application.end = end
        done.append(application)
        current = nil
    }

    private mutating func finish(_ end: CardInspectionOutcome.End) -> Step {
        state = .finished
        return Step(.finished(CardInspectionOutcome(applications: done, end: end)))
    }

    /// Keeps every primitive object that can be told apart; `false` where the bytes are no BER-TLV.
    ///
    /// A template that the dictionary does not have may hold anything: what it holds is kept as far as it is BER-TLV, and no fault.
    private mutating func keep(_ bytes: [UInt8], in range: Range<Int>? = nil, depth: Int = 0) -> Bool {
        do throws(TLVError) {
            var isSound = true
            for node in try TLV.children(bytes, in: range) {
                if !node.tag.isConstructed {
                    current?.objects.append(DataObject(node.tag, Array(bytes[node.value])))
                } else if depth == TLV.maximumDepth || !keep(bytes, in: node.value, depth: depth + 1) {
                    isSound = isSound && DataDictionary.elements(node.tag).isEmpty
                }
            }
            return isSound
        } catch {
            // What stands before the fault is there.
            var before: [DataObject] = []
            try? TLV.walk(bytes.span, in: range) { node in
                if !node.tag.isConstructed { before.append(DataObject(node.tag, Array(bytes[node.value]))) }
                return true
            }
            current?.objects += before
            return false
        }
    }

    /// The records an AFL lists, in its order; `nil` for an AFL that makes no sense (EMV Book 3 §10.2).
    private static func records(of afl: [UInt8]) -> [Record]? {
        guard afl.count.isMultiple(of: 4) else { return nil }
        var records: [Record] = []
        for start in stride(from: 0, to: afl.count, by: 4) {
            let (sfi, first, last) = (afl[start] >> 3, afl[start + 1], afl[start + 2])
            guard (1...30).contains(sfi), first >= 1, last >= first else { return nil }
            for number in first...last { records.append(Record(sfi: sfi, number: number)) }
            // More than any card holds: a card that keeps us reading for minutes.
            guard records.count <= 256 else { return nil }
        }
        return records
    }

}

/// What a card is told of the terminal that looks at it.
private struct InspectingTerminal: Sendable {
    let data: [DataObject]
    let configuration: TerminalConfiguration?

    /// As a kernel has it: the combination's own, then what is of this look, then what the terminal is.
    func value(of tag: Tag, for aid: [UInt8]) -> ([UInt8], ValueFormat)? {
        let combination = configuration?.combinations.first { aid.starts(with: $0.aid) }
        let kernel = combination?.kernel ?? PPSEEntry.defaultKernel(of: aid)
        let qualifiers = tag == .ttq && kernel != .mastercard ? combination?.limits.ttq : nil
        let own = qualifiers.flatMap { ttq in
            (0..<4).map { UInt8(truncatingIfNeeded: ttq.rawValue >> (24 - 8 * $0)) }
        }
        let value =
            own ?? combination?.kernelData.value(of: tag) ?? data.value(of: tag)
            ?? configuration?.terminalData.value(of: tag)
        guard let value else { return nil }
        let element = DataDictionary.element(tag, kernel: kernel) ?? DataDictionary.elements(tag).first
        return (value, element?.format ?? .b)
    }
}

/// What `CardInspection` found.
public struct CardInspectionOutcome: Equatable, Sendable {
    public enum End: Equatable, Sendable {
        case complete
        /// The card has no PPSE: it is no contactless payment card.
        case noDirectory(StatusWord)
        /// The directory names no application that can be selected.
        case emptyDirectory
        /// The card left the field, or the reading was stopped.
        case torn
    }

    /// In the order of the directory.
    public let applications: [InspectedApplication]
    public let end: End

    /// Whether an application was read to its end, or at least in part.
    public var hasRead: Bool {
        applications.contains { application in
            switch application.end {
            case .complete, .malformed: true
            case .notSelected, .notProcessed, .torn: false
            }
        }
    }
}
