import CardBytes

/// Recovery of a transaction whose card left before it answered GENERATE AC: at the next tap the card answers GET
/// PROCESSING OPTIONS with 6200, and ECHO brings the lost answer. The order of these steps is unverified.
extension Kernel5 {
    static let tornStatus: StatusWord = 0x6200

    /// What the answer is judged by. Related data go under the tags that kernel 2 has for them.
    private static let tornTags: [Tag] =
        recoveredTags + [0x8F, 0x90, 0x92, 0x9F32, 0x9F46, 0x9F47, 0x9F48, 0x9F4A, 0x5A, 0x94, 0x9F60, 0x5F2D, 0x9F53]
    private static let recoveredTags: [Tag] = [
        0x9F02, 0x9F03, 0x82, 0x5F34, 0x5F20, 0x9F1A, 0x95, 0x9F1F, 0x57, 0x5F2A, 0x9A, 0x9F21, 0x9C, 0x9F37, 0x8D,
        0x84, 0x5F28, 0x9F57,
    ]

    func tornTransaction(_ now: TapInstant) -> TornTransaction {
        let reference = requested.rawValue | (requestedCDA ? 0x10 : 0x00)
        let related = [
            DataObject(0xDF810C, [0x05]), DataObject(0xDF8111, pdolData), DataObject(0xDF8107, cdolData),
            DataObject(0xDF8114, [reference]), DataObject(0xDF8113, staticData ?? []),
        ]
        return TornTransaction(record: related + store.objects(Kernel5.tornTags), tornAt: now)
    }

    /// Within one transaction only, and for the application that it was torn from.
    var tornRecord: [DataObject]? {
        guard let activation, activation.isRestart, let name = store.value(0x84) else { return nil }
        return activation.tornTransactions.first {
            $0.record.value(of: 0xDF810C) == [0x05] && $0.record.value(of: 0x84) == name
                && $0.record.value(of: 0x9F02) == store.value(0x9F02)
        }?.record
    }

    mutating func echo() -> KernelStep {
        state = .recovering
        return KernelStep(.transmit(ShortCommand.make(0x80, 0xDF, 0x00, 0x00)))
    }

    mutating func echoReceived(_ response: ResponseAPDU) -> KernelStep {
        guard response.status.isSuccess, let record = tornRecord else {
            var outcome = Outcome.selectNext(.statusBytes, statusWord: response.status)
            outcome.tornTransactions = []
            return finish(outcome)
        }
        restore(record)
        var step = cryptogramReceived(response)
        if case .finished(var outcome) = step.action {
            outcome.tornTransactions = []
            step.action = .finished(outcome)
        }
        return step
    }

    private mutating func restore(_ record: [DataObject]) {
        let kept = store
        store = DataStore(kernel: .jcb)
        for object in record where object.tag.byteCount < 3 { store.set(object.tag, object.value) }
        for object in kept.objects([0x9F35, 0x9F33, 0x9F39, 0x9F06]) { store.set(object.tag, object.value) }
        profile.requiresCVM = (record.value(of: 0x9F53)?.first ?? 0) & 0x80 != 0
        pdolData = record.value(of: 0xDF8111) ?? []
        cdolData = record.value(of: 0xDF8107) ?? []
        staticData = record.value(of: 0xDF8113)
        tvr = store.value(0x95).flatMap { TVR($0) } ?? []
        let reference = record.value(of: 0xDF8114)?.first ?? 0
        requested = CryptogramType(rawValue: reference & 0xC0) ?? .aac
        requestedCDA = reference & 0x10 != 0
    }
}
