// SPDX-License-Identifier: Apache-2.0
import POSAPI
import PSPAPI
import PaymentValues
import StoreAndForward
import Transactions

/// What a daemon does with the machine's effects, as short as it can be.
extension Story {
    mutating func sell(_ till: Int) {
        guard salesLeft > 0, !isHonest else { return }
        // No daemon, no sale: the till tries again.
        guard !isDown else { return agenda.add(.sale(till: till), at: time + 60_000, life: 0) }
        salesLeft -= 1
        agenda.add(.sale(till: till), at: time + 1_000 + dice.upTo(20_000), life: 0)
        guard let euro = Currency("EUR") else { return }
        let number = rows.count
        let amount = Money(value: 100 + Int64(number), currency: euro)
        var request = TransactionRequest(type: .purchase, amount: amount)
        if dice.happens(500) { request.group = "all" }
        guard case .success(let lanes) = table.admit(request, AdmissionFacts(mode: .test)), !isFull else { return }
        let transaction = Transaction(
            id: TransactionID(at: now.wall), type: .purchase, mode: .test, lane: lanes.first ?? "", amount: amount,
            createdAt: now.wall)
        var demand = TransactionParameters(kind: .sale, owner: Principal(uid: UInt32(till)))
        demand.lanes = lanes
        demand.maximumReads = 3
        demand.keyLife = keyLife(of: service)
        if dice.happens(300) { demand.confirmWithin = 5 + Int(dice.upTo(120)) }
        rows.append(Row(transaction: transaction, uid: UInt32(till), demand: demand, service: service))
        traces.append(Trace())
        table.take(lanes, for: LaneStatus.Holder(transaction: transaction.id, of: demand.owner, since: now.wall))
        machines[number] = TransactionMachine(transaction, demand, at: now)
        tell("\(number): till \(till) sells for \(amount)")
        give(number, .begin)
        if dice.happens(100) { trouble(.tills, .cancel(number), at: time + dice.upTo(12_000), life: life) }
        if dice.happens(30) { trouble(.tills, .reverse(number), at: time + dice.upTo(12_000), life: life) }
    }

    /// How long a service keeps keys, by its own word.
    func keyLife(of service: Int) -> Duration {
        // A6 as it was: whatever it says.
        setting.putBack == .a6 ? TransactionParameters.defaultKeyLife : services[service].keyLife
    }

    /// The till sends its request once more, under the same key.
    mutating func again(_ number: Int) {
        guard traces[number].isErased || traces[number].isForgotten, traces[number].keyOf == nil else { return }
        let count = rows.count
        salesLeft += 1
        sell(Int(rows[number].uid))
        if rows.count > count { traces[count].keyOf = number }
    }

    /// What has ended long ago leaves the disk, by a time that is believed.
    mutating func erase() {
        let day: Int64 = 86_400_000
        believe()
        // A4 as it was: whatever the clock says.
        guard !isDown, isBelieved || setting.putBack == .a4 else { return }
        for number in rows.indices where rows[number].transaction.state.successors.isEmpty || isApproved(number) {
            let age = now.wall.milliseconds - rows[number].transaction.updatedAt.milliseconds
            guard age > 90 * day, machines[number] == nil, !traces[number].isErased else { continue }
            tell("\(number): is erased")
            traces[number].isErased = true
        }
    }

    /// Time goes on by less than a day from one look to the next; what jumps further is not believed until it is put right.
    mutating func believe() {
        isBelieved = believed - 60_000...believed + 86_400_000 ~= now.wall.milliseconds
        if isBelieved { believed = max(believed, now.wall.milliseconds) }
        if believed - noted >= 60_000 { noted = believed }
    }

    private func isApproved(_ number: Int) -> Bool {
        let transaction = rows[number].transaction
        return transaction.state == .approved
            && (transaction.confirmation == nil || transaction.confirmation?.confirmedAt != nil)
    }

    /// The wish of the shop, on what is in the journal where no machine is at it.
    mutating func reverse(_ number: Int) {
        let row = rows[number]
        guard !isDown, !traces[number].isForgotten else { return }
        if machines[number] == nil, row.transaction.state == .approved {
            machines[number] = TransactionMachine(recorded: row.transaction, row.demand, at: now)
        }
        wishes += 1
        give(number, .reverse(.customerCancel, RequestID(wishes)))
    }

    mutating func confirm(_ number: Int) {
        let transaction = rows[number].transaction
        guard !isDown, !traces[number].isForgotten, transaction.state == .approved,
            let confirmation = transaction.confirmation,
            confirmation.confirmedAt == nil, isInTime(number, confirmation)
        else { return tell("\(number): is confirmed too late") }
        let moment = now.wall
        rows[number].transaction.confirmation?.confirmedAt = moment
        if age(number) > Int64(rows[number].demand.confirmWithin ?? 0) * 1_000 + 1_000 {
            traces[number].isConfirmedLate = true
        }
        tell("\(number): is confirmed")
        give(number, .confirmed)
    }

    /// By the machine, and a clock that goes on while the machine sleeps; where none runs any more, by the wall clock.
    private func isInTime(_ number: Int, _ confirmation: Confirmation) -> Bool {
        // A3 as it was: by the wall clock alone.
        guard setting.putBack != .a3, let isInTime = machines[number]?.isConfirmable(at: now) else {
            return now.wall <= confirmation.due
        }
        return isInTime && age(number) <= Int64(rows[number].demand.confirmWithin ?? 0) * 1_000
    }

    /// Of an approval in this life of the daemon, in true milliseconds.
    private func age(_ number: Int) -> Int64 { truth - (traces[number].approvedAt ?? truth) }

    mutating func carryOut(_ effect: Effect, _ number: Int, _ machine: TransactionMachine) {
        switch effect {
        case .write(let write):
            writing[number] = write
            let isSlow = dice.happens(20)
            agenda.add(.disk(number, write), at: time + 1 + dice.upTo(isSlow ? 3_000 : 8), life: life)
        case .local(.prepare): prepare(number, machine)
        case .local(.connect):
            input(number, services[rows[number].service].isUp ? .connected : .notConnected, after: 1)
        case .local(.disarm): input(number, .ended(.readCancelled, withoutApplication: false), after: 50)
        case .local: break
        case .outward(let outward, _): carryOut(outward, number)
        }
    }

    private mutating func prepare(_ number: Int, _ machine: TransactionMachine) {
        let lanes = machine.demand.lanes
        if dice.happens(20) { return input(number, .notPrepared(.readerFaulty), after: 100) }
        guard dice.happens(100) else { return input(number, .prepared(lanes), after: 0) }
        input(number, .preparing, after: 0)
        input(number, .prepared(lanes), after: 1_000 + dice.upTo(5_000))
    }

    private mutating func carryOut(_ outward: Outward, _ number: Int) {
        switch outward {
        // Of stored cards, links, PIN devices and refunds with cards; nobody asks for one here.
        case .charge, .link, .askPIN, .withdrawPIN, .proceed, .passRefundRead, .keepRead: break
        case .arm(let lanes): presentCard(number, on: lanes[Int(dice.upTo(Int64(lanes.count)))])
        case .send(let request, let question, let isAgain, let limit):
            if isAgain { traces[number].isInDoubt = true }
            let index = asked(number)
            traces[number].askedOf.insert(index)
            if services[index].isUp, dice.happens(services[index].repertoire.delays) {
                agenda.add(
                    .arrival(number, service: index, amount: request.amount.value),
                    at: time + 30_000 + dice.upTo(60_000), life: 0)
                return self.reply(number, .unusable, question, after: limit.inMilliseconds)
            }
            services[index].hear(at: truth, &dice)
            let (said, isInTime) = services[index].authorize(number, request.amount.value, &dice)
            let reply = heard(said, number)
            if reply == .refused, traces[number].isInDoubt { traces[number].wasRefusedInDoubt = true }
            let latency = min(50 + dice.upTo(1_500), limit.inMilliseconds)
            self.reply(number, isInTime ? reply : .unusable, question, after: isInTime ? latency : limit.inMilliseconds)
            // What comes too late, or once more, or with other words, is told all the same.
            if !isInTime { input(number, .replied(reply, question: question), after: limit.inMilliseconds + 10_000) }
            // What is said first is true, or it is lost: nobody could live with anything else.
            if isInTime, dice.happens(services[index].repertoire.repeats) {
                let other = AuthorizationAnswer(outcome: dice.happens(500) ? .declined : .approved, responseCode: "00")
                input(
                    number, .replied(dice.happens(500) ? reply : .answered(other), question: question),
                    after: latency + 1)
            }
        case .query(_, let question, let limit):
            let index = asked(number)
            services[index].hear(at: truth, &dice)
            reply(
                number, heard(services[index].query(number, &dice), number), question,
                after: min(20, limit.inMilliseconds))
        case .reverse(_, let question) where traces[number].isForgiven:
            input(number, .acknowledged(.acknowledged, question: question), after: 1)
        case .reverse(_, let question):
            // Whoever was asked takes it back, whatever the shop's service is now.
            let index = asked(number)
            traces[number].reversedBy.insert(index)
            services[index].hear(at: truth, &dice)
            let acknowledgement = services[index].reverse(number, &dice)
            if acknowledgement == .neverSeen { traces[number].wasNeverSeen = true }
            if setting.putBack == .a1, acknowledgement == .neverSeen {
                // A1 as it was: a 404 acknowledges.
                return input(number, .acknowledged(.acknowledged, question: question), after: 50)
            }
            input(number, .acknowledged(acknowledgement, question: question), after: 20 + dice.upTo(200))
        case .settleReader:
            guard !dice.happens(50) else { return }
            let after = 10 + dice.upTo(1_500)
            input(number, .cardMayGo, after: after)
            input(number, .tapFinished, after: after + 1)
        case .answer(_, .notForwarded):
            rows[number].attempts += 1
            let pause = rows[number].demand.times.attempts.pause(after: rows[number].attempts)
            rows[number].due = Timestamp(milliseconds: now.wall.milliseconds + pause.inMilliseconds)
        case .publish, .show, .answer, .scrub: break
        }
    }

    /// Whose business the transaction is.
    private func asked(_ number: Int) -> Int {
        // A2 as it was: whoever is configured now.
        setting.putBack == .a2 ? service : rows[number].service
    }

    /// What the daemon makes of an answer before the machine sees it.
    private mutating func heard(_ reply: Reply, _ number: Int) -> Reply {
        switch (setting.putBack, reply) {
        case (.a7, .answered(var answer)) where answer.outcome != .declined:
            // A7 as it was: nobody looks at the amount.
            answer.outcome = .approved
            answer.amountApproved = nil
            return .answered(answer)
        case (.a5, .refused), (.a5, .answered(AuthorizationAnswer(outcome: .declined, responseCode: "94"))):
            // A5 as it was: a refusal is an end, whatever was before.
            if traces[number].isInDoubt { traces[number].isForgiven = true }
            return reply
        default: return reply
        }
    }

    private mutating func reply(_ number: Int, _ reply: Reply, _ question: Int, after milliseconds: Int64) {
        if reply == .unusable { traces[number].isInDoubt = true }
        input(number, .replied(reply, question: question), after: milliseconds)
    }

    private mutating func input(_ number: Int, _ input: Input, after milliseconds: Int64) {
        agenda.add(.input(number, input), at: time + milliseconds, life: life)
    }

    // MARK: - The customer

    private mutating func presentCard(_ number: Int, on lane: String) {
        input(number, .ready(lane: lane), after: 5)
        if dice.happens(50) { return input(number, .ended(.readTimedOut, withoutApplication: false), after: 60_000) }
        var after = 300 + dice.upTo(6_000)
        if dice.happens(30) { input(number, .collision(lane: lane), after: after - 100) }
        input(number, .won(lane: lane), after: after)
        input(number, .cardDetected, after: after)
        if dice.happens(30) {
            input(number, .collision(lane: lane), after: after + 50)
            // F1 as it was: "present one card only" is taken for "present again".
            if setting.putBack == .f1 {
                input(number, .cardAwaited, after: after + 60)
                input(number, .presentationFailed, after: after + 60)
            }
        }
        while dice.happens(120) {
            let wantsHolder = dice.happens(300)
            if wantsHolder { input(number, .message(.seePhone), after: after + 100) }
            input(number, .cardAwaited, after: after + 200)
            if !wantsHolder, dice.happens(700) { input(number, .presentationFailed, after: after + 400) }
            after += 500 + dice.upTo(3_000)
            input(number, .cardDetected, after: after)
        }
        after += 250
        // What no card does, in any order.
        if dice.happens(20) { nonsense(number, lane, after - 100) }
        switch dice.upTo(100) {
        case 0..<4: break
        case 4..<8: input(number, .ended(.readCardUnreadable, withoutApplication: false), after: after)
        case 8..<10: input(number, .ended(.readerDetached, withoutApplication: false), after: after)
        case 10..<14: input(number, .declinedOffline(nil, nil, .cardDeclined), after: after)
        default: if let read = read(number, after) { input(number, .read(read), after: after) }
        }
    }

    private mutating func nonsense(_ number: Int, _ lane: String, _ after: Int64) {
        let all: [Input] = [
            .won(lane: lane), .ready(lane: "nowhere"), .prepared([lane]), .preparing, .cardMayGo, .endedWithPasses,
            .connected, .notConnected, .replied(.refused, question: 7), .acknowledged(.acknowledged, question: 9),
            .confirmed, .recover(), .written(77), .notWritten(78, .full), .cardAwaited, .cardDetected,
            .presentationFailed, .targetUnsupported(lane: lane),
        ]
        input(number, all[Int(dice.upTo(Int64(all.count)))], after: after)
    }

    private func read(_ number: Int, _ after: Int64) -> Read? {
        let transaction = rows[number].transaction
        guard let card = MaskedCard(scheme: "Visa", last4: "0010", masked: "************0010") else { return nil }
        let request = AuthorizationRequest(
            id: transaction.id, mode: .test, type: .sale, amount: transaction.amount, entryMode: .contactlessEMV,
            cvm: .noCVM, emv: "9F02", card: card, envelope: "sealed",
            terminal: .init(id: "00000001", merchant: "TEST", capabilities: []))
        let sale = OfflineSale(
            kind: .sale, amount: transaction.amount, card: card, isApprovedByCard: true, validity: .valid,
            needsConfirmation: false)
        return Read(
            request: request, sale: sale, chip: nil,
            at: Timestamp(milliseconds: now.wall.milliseconds + after))
    }
}

extension Duration {
    var inMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}
