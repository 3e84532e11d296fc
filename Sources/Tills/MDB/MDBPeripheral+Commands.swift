// SPDX-License-Identifier: Apache-2.0

extension MDBPeripheral {
    mutating func commanded(_ bytes: [UInt8], _ effects: inout [MDBEffect]) {
        guard let command = MDBCommand(bytes, isExpanded: isExpanded && state != .inactive) else { return }
        // The answer was lost, and nothing has come in between: it is the same command, and does nothing twice.
        let isAgain = bytes == former
        former = bytes
        switch command {
        case .poll: return poll(&effects)
        case .reset: return reset(&effects)
        case .setup(let level): return setUp(level, &effects)
        case .identify:
            out.direct = identity
            return send(identity, &effects)
        default: break
        }
        out.direct = nil
        // Its answer came in time and was not heard, or was left out: either way the same one.
        guard !isAgain else { return effects.append(.send(MDBLine.acknowledged)) }
        switch command {
        case .prices:
            effects.append(.send(MDBLine.acknowledged))
            if state == .inactive, isSetUp { state = .disabled }
        case .options(let wanted):
            effects.append(.send(MDBLine.acknowledged))
            features = level >= 3 ? wanted & (Self.bigMoney | Self.alwaysIdle) : 0
        case .writeTime, .cashSale: effects.append(.send(MDBLine.acknowledged))
        case .enable: enable(&effects)
        case .disable:
            effects.append(.send(MDBLine.acknowledged))
            if state == .enabled { state = .disabled }
            disablesLater = state == .session || state == .vend
        case .readerCancel:
            effects.append(.send(MDBLine.acknowledged))
            tell([0x08])
        case .request(let value, let item): requested(value, item, &effects)
        case .cancel: cancelled(&effects)
        case .success: succeeded(&effects)
        case .failure: failed(&effects)
        case .sessionComplete:
            guard state == .session else { return outOfSequence(&effects) }
            effects.append(.send(MDBLine.acknowledged))
            endSession(&effects)
            // What it has not heard of that session it needs no more.
            dropMessages { $0 != .plain }
            out.messages.removeAll { $0.bytes == [0x04] }
            tell([0x07], .end)
        case .poll, .reset, .setup, .identify: break
        }
    }

    private mutating func outOfSequence(_ effects: inout [MDBEffect]) {
        // Before a machine has set it up, a peripheral has nothing to say to it.
        guard state != .inactive else { return }
        effects.append(.send(MDBLine.acknowledged))
        tell(level >= 2 ? [0x0B, state.rawValue] : [0x0B])
    }

    // MARK: - Setting up

    private mutating func reset(_ effects: inout [MDBEffect]) {
        effects.append(.send(MDBLine.acknowledged))
        begunAnew(&effects)
    }

    mutating func begunAnew(_ effects: inout [MDBEffect]) {
        endSale(isReset: true, &effects)
        endSession(&effects)
        (state, isSetUp, features, machineLevel) = (.inactive, false, 0, 1)
        (disablesLater, givingBack) = (false, nil)
        out = Outbox(messages: [Message(bytes: [0x00])])
    }

    private mutating func setUp(_ level: UInt8, _ effects: inout [MDBEffect]) {
        machineLevel = min(max(level, 1), 3)
        isSetUp = true
        // Whoever sets it up knows that it was reset, though the acknowledgement was lost: said later, it would be another reset.
        out.messages.removeAll { $0.bytes == [0x00] }
        out.unacknowledged = 0
        // It gives money back, and wants to hear of sales for cash.
        let options: UInt8 = 0x09
        let answer =
            [0x01, self.level] + settings.prices.currencyDigits
            + [settings.prices.scale, settings.prices.decimals, settings.responseSeconds, options]
        out.direct = answer
        send(answer, &effects)
    }

    private var identity: [UInt8] {
        func letters(_ text: String, _ count: Int) -> [UInt8] {
            let all = text.utf8.prefix(count).map { (0x20...0x7E).contains($0) ? $0 : 0x20 }
            return all + Array(repeating: 0x20, count: count - all.count)
        }
        let plain =
            [0x09] + letters("NFT", 3) + letters(settings.serial, 12) + letters("nfc-tap-mdb", 12) + [0x00, 0x10]
        let bits = UInt8(Self.bigMoney | Self.alwaysIdle)
        return machineLevel >= 3 && settings.level >= 3 ? plain + [0, 0, 0, bits] : plain
    }

    private mutating func enable(_ effects: inout [MDBEffect]) {
        guard state != .inactive else { return outOfSequence(&effects) }
        effects.append(.send(MDBLine.acknowledged))
        disablesLater = false
        if state == .disabled { state = .enabled }
    }

    // MARK: - Vends

    private mutating func requested(_ value: UInt32, _ item: UInt16, _ effects: inout [MDBEffect]) {
        let isIdle = state == .session || (state == .enabled && isAlwaysIdle)
        guard isIdle, sale == nil else { return outOfSequence(&effects) }
        // Whoever asks for goods knows of the session.
        dropMessages { $0 == .begin }
        effects.append(.send(MDBLine.acknowledged))
        state = .vend
        guard let amount = settings.prices.amount(of: value), amount > 0 else { return tell([0x06], .denied) }
        if let session {
            guard !session.isUsed, amount <= session.held ?? .max else { return tell([0x06], .denied) }
            let sale = begin(value, amount, item)
            effects += [.record(sale), .ask(sale)]
        } else {
            let sale = begin(value, amount, item)
            effects += [.record(sale), .start(sale, confirmWithin: confirmWithin)]
        }
        effects.append(.arm(.response(counter), milliseconds: max(1, Int64(settings.responseSeconds) - 1) * 1_000))
    }

    /// Seconds: to be told, for the goods, and to be sure.
    private var confirmWithin: Int { min(600, Int(settings.responseSeconds) + Int(settings.vendSeconds) + 60) }

    private mutating func cancelled(_ effects: inout [MDBEffect]) {
        guard state == .vend, sale?.phase == .asked || sale?.phase == .approved else {
            return outOfSequence(&effects)
        }
        effects.append(.send(MDBLine.acknowledged))
        deny(&effects)
        state = .session
    }

    /// The machine gets "denied", and whatever is approved goes back.
    private mutating func deny(_ effects: inout [MDBEffect]) {
        endSale(isReset: false, &effects)
        dropMessages { $0 == .approved }
        tell([0x06], .denied)
    }

    /// The approval was sent at least once: who says what became of the goods has heard it.
    private mutating func mayKnow(_ effects: inout [MDBEffect]) {
        guard sale?.phase == .approved,
            out.messages.prefix(out.unacknowledged).contains(where: { $0.kind == .approved })
        else {
            return
        }
        acknowledged(&effects)
    }

    mutating func approvalIsKnown(_ effects: inout [MDBEffect]) {
        guard sale?.phase == .approved, let number = sale?.number else { return }
        sale?.phase = .told
        effects += [.record(sale), .arm(.vend(number), milliseconds: Int64(settings.vendSeconds) * 1_000)]
    }

    private mutating func succeeded(_ effects: inout [MDBEffect]) {
        mayKnow(&effects)
        guard let sale, sale.phase == .told || sale.phase == .sold, state == .vend || state == .inactive else {
            return outOfSequence(&effects)
        }
        effects.append(.send(MDBLine.acknowledged))
        sell(&effects)
        self.sale = nil
        effects.append(.record(nil))
        if state == .vend { state = .session }
    }

    private mutating func sell(_ effects: inout [MDBEffect]) {
        guard let number = sale?.number, sale?.phase == .told else { return }
        sale?.phase = .sold
        session?.isUsed = true
        effects.append(.confirm(number))
    }

    private mutating func failed(_ effects: inout [MDBEffect]) {
        mayKnow(&effects)
        guard let sale, sale.phase == .told || sale.phase == .sold, state == .vend || state == .inactive else {
            return outOfSequence(&effects)
        }
        effects += [.send(MDBLine.acknowledged), .record(nil), .reverse(sale.number)]
        self.sale = nil
        session?.isUsed = true
        givingBack = sale.number
        if state == .vend { state = .session }
    }

    /// Ends a sale that is not told of: a reset after an acknowledged approval counts as a success (7.4.7), anything else takes
    /// nothing.
    private mutating func endSale(isReset: Bool, _ effects: inout [MDBEffect]) {
        guard let ending = sale else { return }
        switch ending.phase {
        case .told where isReset: sell(&effects)
        case .told, .sold: break
        case .asked: effects.append(.cancel(ending.number))
        case .approved: effects.append(.reverse(ending.number))
        }
        sale = nil
        effects.append(.record(nil))
    }

    private mutating func endSession(_ effects: inout [MDBEffect]) {
        if session?.isUsed == false { effects.append(.release) }
        session = nil
    }
}

// MARK: - The host

extension MDBPeripheral {
    public mutating func handle(_ input: MDBInput) -> [MDBEffect] {
        var effects: [MDBEffect] = []
        switch input {
        case .restored(let former): restored(former, &effects)
        case .silence: out.awaitsAnswer = false
        case .lineReset: begunAnew(&effects)
        case .tapped(let held): tapped(held, &effects)
        case .sessionOver: if state == .session || state == .vend, session != nil { tell([0x04]) }
        case .approved(let number): approved(number, &effects)
        case .denied(let number): denied(number, &effects)
        case .reversed(let number): if number == givingBack { givingBack = nil }
        case .notReversed(let number):
            guard number == givingBack else { break }
            givingBack = nil
            tell([0x0A, 0xC0])
        case .timer(let timer): fired(timer, &effects)
        }
        return effects
    }

    private mutating func restored(_ former: MDBSale?, _ effects: inout [MDBEffect]) {
        guard let former else { return }
        switch former.phase {
        // The machine knows, and its word may have been missed meanwhile: it is sold, unless a failure is heard.
        case .told, .sold:
            sale = former
            sell(&effects)
            effects.append(.record(sale))
        case .asked, .approved: effects += [.record(nil), .reverse(former.number)]
        }
    }

    private mutating func tapped(_ held: Int64?, _ effects: inout [MDBEffect]) {
        // Funds above what can be said are not told; media and its number never are.
        let most: UInt32 = isExpanded ? .max - 1 : 0xFFFE
        guard state == .enabled, session == nil, !out.messages.contains(where: { $0.kind == .begin || $0.kind == .end })
        else {
            return effects.append(.release)
        }
        session = Session(held: held)
        let told = held.flatMap { settings.prices.value(of: $0) }.flatMap { $0 <= most ? $0 : nil }
        var bytes: [UInt8] = [0x03] + number(told ?? (isExpanded ? .max : 0xFFFF))
        if level >= 2 { bytes += [0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00] }
        if isExpanded {
            let language = Array(settings.language.utf8.prefix(2))
            bytes += language + Array(repeating: 0x20, count: 2 - language.count)
            bytes += settings.prices.currencyDigits + [0x00]
        }
        tell(bytes, .begin)
    }

    private mutating func approved(_ number: UInt64, _ effects: inout [MDBEffect]) {
        // Too late, or told twice.
        guard let sale, sale.number == number else { return effects.append(.reverse(number)) }
        guard sale.phase == .asked else { return }
        self.sale?.phase = .approved
        // A machine that does not hear of it for as long again has no use for it.
        effects += [.record(self.sale), .arm(.response(number), milliseconds: Int64(settings.responseSeconds) * 1_000)]
        tell([0x05] + self.number(sale.value), .approved)
    }

    private mutating func denied(_ number: UInt64, _ effects: inout [MDBEffect]) {
        guard let sale, sale.number == number else { return }
        switch sale.phase {
        // Also an approval that is taken back before the machine has heard of it.
        case .asked, .approved:
            self.sale = nil
            effects.append(.record(nil))
            dropMessages { $0 == .approved }
            if state == .vend { tell([0x06], .denied) }
        case .told, .sold: break
        }
    }

    private mutating func fired(_ timer: MDBTimer, _ effects: inout [MDBEffect]) {
        switch timer {
        case .response(let number):
            guard let sale, sale.number == number, sale.phase == .asked || sale.phase == .approved else { return }
            deny(&effects)
        // No failure was heard: it is sold.
        case .vend(let number):
            guard sale?.number == number else { return }
            sell(&effects)
            effects.append(.record(sale))
        }
    }
}
