// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// Reads what a payment card tells anybody: directory, and for each application FCI, processing options and records.
///
/// No payment: nothing is authorised, and GENERATE AC is never sent. A card that computes its cryptogram in GET
/// PROCESSING OPTIONS (Visa and others) still counts one transaction in its ATC.
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
    private let terminalData: [DataObject]
    private var waiting: [PPSEEntry] = []
    private var current: InspectedApplication?
    private var done: [InspectedApplication] = []
    private var records: [Record] = []

    /// - Parameter terminalData: values for the PDOL, in the lengths of the dictionary; a tag that is missing is
    ///   answered with zero bytes.
    public init(terminalData: [DataObject]) { self.terminalData = terminalData }

    public mutating func start(now: TapInstant) -> Step {
        state = .awaitingCard
        return Step(
            .activate(fieldOffMilliseconds: 0), signals: [UIRequest(.presentCard, .readyToRead)])
    }

    public mutating func activated(_ card: CardActivation, now: TapInstant) -> Step {
        guard case .awaitingCard = state else { return finish(.torn) }
        state = .directory
        return Step(.transmit(SelectCommand.directory))
    }

    public mutating func collided(now: TapInstant) -> Step {
        guard case .awaitingCard = state else { return finish(.torn) }
        return Step(
            .activate(fieldOffMilliseconds: 0), signals: [UIRequest(.presentOneCardOnly, .processingError)])
    }

    public mutating func received(_ response: ResponseAPDU, now: TapInstant) -> Step {
        switch state {
        case .directory:
            guard response.status.isSuccess else { return finish(.noDirectory(response.status)) }
            waiting = PPSEEntry.entries(ofPPSE: response.data)
            return selectNext()
        case .selecting: return selected(response)
        case .processing: return processed(response)
        case .reading: return recordRead(response)
        case .idle, .awaitingCard, .finished: return finish(.torn)
        }
    }

    public mutating func cardLost(now: TapInstant) -> Step {
        close(.torn)
        return finish(.torn)
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
        let values = pdol.fill { tag in terminalData.value(of: tag).map { ($0, CardInspection.format(tag)) } }
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
        // A record that is not there is no reason to leave out the others.
        if response.status.isSuccess, !keep(response.data) { return malformed() }
        return readNext()
    }

    private mutating func readNext() -> Step {
        guard !records.isEmpty else {
            close(.complete)
            return selectNext()
        }
        let record = records.removeFirst()
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

    /// Keeps every primitive object; `false` where the bytes are no BER-TLV.
    private mutating func keep(_ bytes: [UInt8]) -> Bool {
        do throws(TLVError) {
            for node in try TLV.nodes(bytes) where !node.tag.isConstructed {
                current?.objects.append(DataObject(node.tag, Array(bytes[node.value])))
            }
            return true
        } catch {
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

    private static func format(_ tag: Tag) -> ValueFormat {
        let numeric: Set<Tag> = [
            .amountAuthorised, .amountOther, .terminalCountry, .transactionCurrency, .transactionDate, .transactionType,
            .transactionTime, .transactionSequenceCounter, .terminalType,
        ]
        return numeric.contains(tag) ? .n : .b
    }
}

/// What `CardInspection` found.
public struct CardInspectionOutcome: Equatable, Sendable {
    public enum End: Equatable, Sendable {
        case complete
        /// The card has no PPSE: it is no contactless payment card.
        case noDirectory(StatusWord)
        /// The card left the field, or the reading was stopped.
        case torn
    }

    /// In the order of the directory.
    public let applications: [InspectedApplication]
    public let end: End
}
