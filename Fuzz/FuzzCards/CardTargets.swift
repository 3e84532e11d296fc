// SPDX-License-Identifier: Apache-2.0
import CardBytes
import EMV
import FuzzSupport
import Glibc

/// What is fuzzed. The first byte of an input chooses the target.
enum CardTargets {
    static let directory: UInt8 = 2
    static let kernel: UInt8 = 3
    static let inspection: UInt8 = 4

    static func run(_ input: [UInt8]) {
        guard let target = input.first else { return }
        let rest = Array(input.dropFirst())
        switch target % 8 {
        case 0: tlv(rest)
        case 1: lists(rest)
        case 2: transaction(AnswerScript(input, from: 1))
        case 4:
            var script = AnswerScript(input, from: 1)
            var machine = CardInspection(terminalData: TerminalConfiguration.test.terminalData)
            play(&machine, &script)
        case 5: values(rest)
        case 6: database(rest)
        default:
            guard let number = rest.first else { return }
            let aid = Terminal.aids[Int(number) % Terminal.aids.count]
            transaction(AnswerScript(Terminal.selection(of: aid) + rest.dropFirst(), from: 0))
        }
    }

    private static func tlv(_ bytes: [UInt8]) {
        guard let nodes = try? TLV.nodes(bytes) else { return }
        for node in nodes {
            guard node.start < node.value.lowerBound, node.value.upperBound <= bytes.count, node.depth < 12 else {
                abort()
            }
        }
        guard let children = try? TLV.children(bytes), let top = try? TLV.nodes(bytes) else { abort() }
        if children != top.filter({ $0.depth == 0 }) { abort() }
    }

    private static func lists(_ bytes: [UInt8]) {
        _ = ApplicationFileLocator(bytes)
        _ = CVMList(bytes)
        guard let list = try? DOL(bytes) else { return }
        let filled = list.fill { tag in tag.rawValue & 1 == 0 ? ([1, 2, 3], .n) : nil }
        if filled.count != list.totalLength { abort() }
    }

    /// The parsers of single values.
    private static func values(_ bytes: [UInt8]) {
        _ = Track2Equivalent(bytes)
        _ = CardAccount(record: [DataObject(0x57, bytes), DataObject(0x5A, bytes), DataObject(0x5F24, bytes)])
    }

    private static func database(_ bytes: [UInt8]) {
        for policy in [
            CardDataPolicy(duplicates: .keepFirst), CardDataPolicy(duplicates: .rejectUnlessIdentical),
            CardDataPolicy(duplicates: .rejectUnlessEmpty, rejectsReservedTags: true, checksLengths: true),
        ] {
            var store = DataStore(kernel: .mastercard)
            store.set(0x9F37, [1, 2, 3, 4])
            try? store.store(bytes, policy: policy)
            _ = store.fill(listIn: 0x8C)
            _ = store.fill(listIn: 0x9F38)
            _ = store.list(in: 0x8D, contains: 0x8A)
            if store.value(0x9F37) != [1, 2, 3, 4] { abort() }
        }
    }

    /// A whole transaction, and all that is told of its outcome.
    private static func transaction(_ script: AnswerScript) {
        var script = script
        var machine = EntryPoint(
            configuration: Terminal.all, transaction: Terminal.transaction,
            unpredictableNumbers: .fixed([0x0102_0304]), authentication: Terminal.authentication)
        let final = play(&machine, &script)
        _ = final.account
        _ = final.device
        let completed = final.completed(for: Terminal.transaction, at: Terminal.all)
        _ = completed.missingHostData(for: Terminal.transaction, at: Terminal.all)
        _ = completed.outcome.dataRecord?.encoded
        _ = final.paymentAccountReference
        _ = final.outcome.cvm?.receiptText
        _ = final.cryptogramType
        _ = final.outcome.dataRecord?.encoded
        guard final.wantsRestart else { return }
        _ = play(&machine, &script)
    }
}
