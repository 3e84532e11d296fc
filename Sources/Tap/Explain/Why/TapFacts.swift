// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import ReaderCore

/// What terminal and card told each other in the last tap of a trace.
struct TapFacts {
    struct Exchange {
        let command: CommandAPDU
        /// `nil` where the card gave none.
        let response: ResponseAPDU?
    }

    let trace: TapTrace
    /// Taps before the last one.
    let earlierTaps: Int
    let activation: CardActivation?
    let exchanges: [Exchange]
    let authentications: [TapTrace.Authentication]
    let analysis: SelectionAnalysis
    /// What the card said of the application used last, the first value of a tag.
    private let card: [Tag: [UInt8]]
    /// What the terminal sent in data object lists.
    private let terminal: [Tag: [UInt8]]

    init(_ trace: TapTrace) {
        self.trace = trace
        let starts = trace.events.indices.filter { index in
            if case .activated = trace.events[index] { true } else { false }
        }
        earlierTaps = max(0, starts.count - 1)
        let events = trace.events[(starts.last ?? trace.events.startIndex)...]
        activation = events.compactMap { event in if case .activated(let card) = event { card } else { nil } }.first
        exchanges = TapFacts.completed(events)
        authentications = events.compactMap { event in
            if case .authenticated(let authentication) = event { authentication } else { nil }
        }
        analysis = SelectionAnalysis(
            configuration: trace.configuration, transaction: trace.transaction,
            directory: exchanges.first { $0.command.isDirectorySelection }?.response)
        (card, terminal) = TapFacts.objects(exchanges)
    }

    /// GET RESPONSE belongs to the command before it.
    private static func completed(_ events: ArraySlice<TapTrace.Event>) -> [Exchange] {
        var exchanges: [Exchange] = []
        for event in events {
            guard case .exchanged(let command, let answer) = event else { continue }
            let response: ResponseAPDU? = if case .response(let response) = answer { response } else { nil }
            if command.ins == 0xC0, command.cla == 0x00, let before = exchanges.popLast() {
                let data = (before.response?.data ?? []) + (response?.data ?? [])
                // After a warning GET RESPONSE only fetches the data; the warning stays the answer.
                let warning = before.response.flatMap { [0x62, 0x63].contains($0.status.sw1) ? $0.status : nil }
                exchanges.append(
                    Exchange(
                        command: before.command,
                        response: response.map { ResponseAPDU(data: data, status: warning ?? $0.status) }))
            } else {
                exchanges.append(Exchange(command: command, response: response))
            }
        }
        return exchanges
    }

    private static func objects(_ exchanges: [Exchange]) -> (card: [Tag: [UInt8]], terminal: [Tag: [UInt8]]) {
        var card: [Tag: [UInt8]] = [:]
        var terminal: [Tag: [UInt8]] = [:]
        for exchange in exchanges {
            if exchange.command.isSelection {
                (card, terminal) = ([:], [:])
            } else if exchange.command.isProcessingOptions, let list = card[.pdol] {
                terminal.merge(filled(list, TapFacts.value(ofCommandTemplate: exchange.command.data))) { $1 }
            } else if exchange.command.isCryptogramCommand, let list = card[.cdol1] {
                terminal.merge(filled(list, exchange.command.data)) { $1 }
            }
            guard let response = exchange.response, response.status.isSuccess else { continue }
            for (tag, value) in values(response.data, of: exchange.command) where card[tag] == nil { card[tag] = value }
        }
        return (card, terminal)
    }

    private static func value(ofCommandTemplate data: [UInt8]) -> [UInt8] {
        guard let node = try? TLV.children(data).first, node.tag == .commandTemplate else { return [] }
        return Array(data[node.value])
    }

    /// The values of a data object list as they were sent.
    private static func filled(_ list: [UInt8], _ data: [UInt8]) -> [Tag: [UInt8]] {
        guard let entries = try? DOL(list).entries else { return [:] }
        var values: [Tag: [UInt8]] = [:]
        var rest = data[...]
        for entry in entries {
            values[entry.tag] = Array(rest.prefix(entry.length))
            rest = rest.dropFirst(entry.length)
        }
        return values
    }

    private static func values(_ data: [UInt8], of command: CommandAPDU) -> [(Tag, [UInt8])] {
        guard let nodes = try? TLV.nodes(data) else { return [] }
        guard let first = nodes.first, first.tag == .responseFormat1 else {
            return nodes.filter { !$0.tag.isConstructed }.map { ($0.tag, Array(data[$0.value])) }
        }
        let value = Array(data[first.value])
        if command.isProcessingOptions, value.count >= 2 {
            var objects: [(Tag, [UInt8])] = [(.aip, Array(value.prefix(2)))]
            if value.count > 2 { objects.append((.afl, Array(value.dropFirst(2)))) }
            return objects
        }
        guard command.isCryptogramCommand, value.count >= 11 else { return [] }
        return [
            (.cryptogramInformation, [value[0]]), (.atc, Array(value[1...2])),
            (.applicationCryptogram, Array(value[3...10])),
            (.issuerApplicationData, Array(value.dropFirst(11))),
        ]
    }

    // MARK: Values

    /// As the card sent it.
    func card(_ tag: Tag) -> [UInt8]? { card[tag].flatMap { $0.isEmpty ? nil : $0 } }

    /// As the terminal sent it, or as its data record has it, or as it is configured.
    func terminal(_ tag: Tag) -> [UInt8]? {
        trace.outcome.outcome.dataRecord?.value(of: tag) ?? terminal[tag] ?? configured(tag)
    }

    /// As a data object list sent it to the card.
    func sent(_ tag: Tag) -> [UInt8]? { terminal[tag] }

    func configured(_ tag: Tag) -> [UInt8]? {
        combination?.combination.kernelData.value(of: tag) ?? trace.configuration.terminalData.value(of: tag)
    }

    /// An amount of the kernel's configuration; 0 is the default of kernel 2 (EMV Contactless Book C-2 Table 4.4).
    func configuredAmount(_ tag: Tag) -> UInt64 { configured(tag).flatMap { BCD.decode($0) } ?? 0 }

    func bit(_ tag: Tag, byte: Int, _ mask: UInt8) -> Bool {
        guard let value = card(tag), value.count >= byte else { return false }
        return value[byte - 1] & mask != 0
    }

    func amount(_ minorUnits: UInt64) -> String {
        CodeNames.amount(minorUnits, currency: UInt64(trace.transaction.currency))
    }

    // MARK: What was chosen

    /// The SELECT commands after the directory, in order.
    ///
    /// `hasMore` says whether another command came before the next of them: a kernel ran.
    var selections: [(exchange: Exchange, hasMore: Bool)] {
        exchanges.indices.filter { exchanges[$0].command.isSelection && !exchanges[$0].command.isDirectorySelection }
            .map { index in
                let next = index + 1
                return (exchanges[index], next < exchanges.count && !exchanges[next].command.isSelection)
            }
    }

    /// What a card answered that wanted its commands with another length, or had more to give, until the reader gave it up.
    var endlessAnswer: StatusWord? {
        let last = exchanges.suffix(8).compactMap(\.response?.status)
        guard last.count == 8, let first = last.first, first.sw1 == 0x6C || first.sw1 == 0x61,
            last.allSatisfy({ $0.sw1 == first.sw1 })
        else { return nil }
        return first
    }

    var kernel: KernelIdentifier? { trace.outcome.application?.kernel }

    /// The combination of the application whose kernel made the outcome.
    var combination: SelectionAnalysis.PreparedCombination? {
        guard let application = trace.outcome.application else { return nil }
        return analysis.combinations.first { prepared in
            prepared.isAllowed && prepared.combination.aid == application.matchingAID
                && (prepared.combination.kernel == application.kernel || application.kernel == .legacy)
        }
    }

    func exchange(where isWanted: (CommandAPDU) -> Bool) -> Exchange? { exchanges.last { isWanted($0.command) } }

    /// 9F27, or bits 6 and 5 of the second byte of Visa's card verification results.
    var cryptogram: ApplicationCryptogram? {
        if let information = card(.cryptogramInformation)?.first {
            return ApplicationCryptogram(cryptogramInformation: information)
        }
        guard let data = card(.issuerApplicationData), data.count > 4, kernel == .visa || kernel == .unionPay else {
            return nil
        }
        return ApplicationCryptogram(rawValue: data[4] << 2 & 0xC0)
    }

    var tvr: TVR? { terminal(.tvr).flatMap { TVR($0) } }

    /// The TTQ as the card got it.
    var ttq: TTQ? { (sent(.ttq) ?? combination?.indicators.ttq?.bytes).flatMap { TTQ($0) } }
}

extension CommandAPDU {
    var isSelection: Bool { cla == 0x00 && ins == 0xA4 }
    var isDirectorySelection: Bool { isSelection && data == Array("2PAY.SYS.DDF01".utf8) }
    var isProcessingOptions: Bool { cla == 0x80 && ins == 0xA8 }
    var isCryptogramCommand: Bool { cla == 0x80 && ins == 0xAE }
    /// COMPUTE CRYPTOGRAPHIC CHECKSUM of kernel 2's mag-stripe mode.
    var isChecksumCommand: Bool { cla == 0x80 && ins == 0x2A }
    var isRecordCommand: Bool { cla == 0x00 && ins == 0xB2 }
}
