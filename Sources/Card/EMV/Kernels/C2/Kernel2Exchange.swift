// SPDX-License-Identifier: Apache-2.0
public import CardBytes

/// What the terminal wants read, written and told during a transaction of kernel 2 (C-2 §6.3, §6.5).
struct Kernel2Exchange: Sendable {
    /// Tags To Read (DF8112) that GET DATA gives: 9F50 and 9F70…9F79.
    var tagsToGet: [Tag] = []
    /// The others of that list.
    var tagsToTell: [Tag] = []
    /// FF8104: what is ready for the terminal.
    var dataToSend: [DataObject] = []
    /// Tags To Write Before Gen AC (FF8102) and After (FF8103).
    var writeBefore: [DataObject] = []
    var writeAfter: [DataObject] = []
    /// DF8106.
    var needed: [Tag] = []
    /// Shown once all is written (S910.78).
    var held: [UIRequest] = []

    init() {}

    /// - Throws: where a list of the terminal cannot be read (S1.10, S1.16).
    init(_ store: DataStore) throws(CardDataError) {
        if let list = store.value(.tagsToRead) {
            guard let tags = TagList(list)?.tags else { throw .wrongTemplate }
            tagsToGet = tags.filter { Kernel2Objects.isReadByGetData($0) }
            tagsToTell = tags.filter { !Kernel2Objects.isReadByGetData($0) }
        }
        writeBefore = try Kernel2Exchange.objects(store.value(.tagsToWriteBeforeCryptogram) ?? [])
        writeAfter = try Kernel2Exchange.objects(store.value(.tagsToWriteAfterCryptogram) ?? [])
    }

    private static func objects(_ list: [UInt8]) throws(CardDataError) -> [DataObject] {
        do throws(TLVError) {
            return try TLV.children(list).map { DataObject($0.tag, Array(list[$0.value])) }
        } catch {
            throw .malformed(error)
        }
    }
}

/// DEK and DET as steps of the machine (C-2 §6.3).
extension Kernel2 {
    /// What a list of the card asks for and the terminal has announced, but not said: objects that are there and empty.
    func missingData(in list: Tag) -> [Tag] {
        guard let value = store.value(list) else { return [] }
        var cursor = DOLCursor(0..<value.count)
        var missing: [Tag] = []
        while let entry = cursor.next(value) {
            let isAnnounced = store.isPresent(entry.tag) && !store.isPresentNotEmpty(entry.tag)
            if isAnnounced, Kernel2Objects.updatable(entry.tag) != nil { missing.append(entry.tag) }
        }
        return missing
    }

    mutating func askTerminal(for needed: [Tag], _ next: State) -> KernelStep {
        state = next
        exchange.needed = needed
        let question = DataExchange(dataToSend: exchange.dataToSend, dataNeeded: needed)
        exchange.dataToSend = []
        return KernelStep(.askTerminal(question))
    }

    /// Without an answer in time a transaction that needs one ends (S1.12, S456.11).
    public mutating func terminalAnswered(_ answer: TerminalAnswer, now: TapInstant) -> KernelStep {
        guard state == .awaitingOptionsData || state == .awaitingCryptogramData else { return fail(.cardDataError) }
        if case .objects(let objects) = answer {
            for object in objects where Kernel2Objects.updatable(object.tag)?.contains(object.value.count) == true {
                store.set(object.tag, object.value)
            }
            exchange.needed.removeAll { store.isPresentNotEmpty($0) }
        }
        guard exchange.needed.isEmpty else {
            return finish(Outcome(.endApplication, error: ErrorIndication(l3: .timeOut)))
        }
        amount = store.digits(.amountAuthorised) ?? amount
        return state == .awaitingOptionsData ? askForOptions() : prepareCryptogram()
    }

    /// GET DATA for the tags that the terminal wants read, before the first record (S3R1.2 to S3R1.9).
    mutating func startReading() -> KernelStep {
        guard let tag = exchange.tagsToGet.first, !isMagStripe else { return nextRecord() }
        state = .readingTags
        return KernelStep(.transmit(DataCommand.get(tag)))
    }

    /// S5.19 to S5.21: what cannot be read goes to the terminal empty.
    mutating func tagReceived(_ response: ResponseAPDU) -> KernelStep {
        guard !exchange.tagsToGet.isEmpty else { return nextRecord() }
        let tag = exchange.tagsToGet.removeFirst()
        let value = response.status.isSuccess ? Kernel2.value(of: tag, in: response.data) : nil
        if let value { store.set(tag, value) }
        exchange.dataToSend.append(DataObject(tag, value ?? []))
        return startReading()
    }

    private static func value(of tag: Tag, in data: [UInt8]) -> [UInt8]? {
        do throws(CardDataError) {
            let template = try ResponseTemplate(data)
            return template.tag == tag ? Array(data[template.value]) : nil
        } catch {
            return nil
        }
    }

    /// S456.5 to S456.23, once all is read.
    mutating func recordsAreThere() -> KernelStep {
        exchange.tell(exchange.tagsToTell, store)
        exchange.tagsToTell = []
        // S4.28 to S4.33
        let storage = readsStorage && !isSlotLocked ? missingData(in: .dsdol) : []
        let missing = missingData(in: .cdol1) + storage
        if missing.isEmpty, exchange.dataToSend.isEmpty { return prepareCryptogram() }
        return askTerminal(for: missing, .awaitingCryptogramData)
    }
}

/// PUT DATA before and after the cryptogram (C-2 S456.42, S910.76 to S910.78). The first refusal ends a series.
extension Kernel2 {
    mutating func writeBeforeCryptogram() -> KernelStep {
        guard let object = exchange.writeBefore.first, let command = DataCommand.put(object) else {
            return askForCryptogram()
        }
        state = .writingBefore
        return KernelStep(.transmit(command))
    }

    mutating func writtenBefore(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess, !exchange.writeBefore.isEmpty else { return askForCryptogram() }
        exchange.writeBefore.removeFirst()
        if exchange.writeBefore.isEmpty { store.set(.putDataStatusBeforeCryptogram, [0x80]) }
        return writeBeforeCryptogram()
    }

    /// - Parameter outcome: what the transaction came to.
    mutating func writeAfterCryptogram(_ outcome: Outcome) -> KernelStep {
        pending = outcome
        guard let object = exchange.writeAfter.first, let command = DataCommand.put(object) else {
            return finish(outcome, signals: exchange.held)
        }
        state = .writingAfter
        return KernelStep(.transmit(command))
    }

    mutating func writtenAfter(_ response: ResponseAPDU) -> KernelStep {
        guard let pending else { return fail(.cardDataError) }
        guard response.status.isSuccess, !exchange.writeAfter.isEmpty else {
            return finish(pending, signals: exchange.held)
        }
        exchange.writeAfter.removeFirst()
        if exchange.writeAfter.isEmpty { store.set(.putDataStatusAfterCryptogram, [0x80]) }
        return writeAfterCryptogram(pending)
    }
}
