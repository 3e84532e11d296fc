// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues

/// From a read whose card wants an online PIN to the PIN, or to an end without it. Nothing has been sent, so that whatever
/// goes wrong ends the payment without a doubt.
extension TransactionMachine {
    /// From the read to the PIN's end, whatever the customer does: five seconds are left of the read's life for sending.
    static let pinTime: Duration = .seconds(55)
    /// For a customer at the device who needs no more.
    static let pinEntryTime: Duration = .seconds(30)
    /// What the device's answer may take beyond that.
    static let pinMargin: Duration = .seconds(2)

    /// For the customer at the device: what is left since the read, and no more than most need, so that the till waits for nobody
    /// who has left.
    func entryTime(of read: Read) -> Duration {
        let (age, isFar) = now.monotonic.subtractingReportingOverflow(read.takenAt)
        let left = Self.pinTime - .milliseconds(isFar ? .max : max(0, age))
        return demand.isAccessible ? left : min(left, Self.pinEntryTime)
    }

    /// That somebody is asked, and for how long.
    func pinRequested(_ attempt: PINAttempt, _ cause: PINNotice.Cause, within time: Duration) -> Event {
        var event = event(.pinRequested)
        event.pin = PINNotice(device: attempt.device, cause: cause, timeout: Int(time.components.seconds))
        event.pin?.accessible = demand.isAccessible ? true : nil
        event.message = .enterPIN
        event.customerText = CardholderMessage.enterPIN.text(in: demand.language)
        return event
    }

    /// The customer is asked, and nothing stands: it has not been sent, or its issuer has declined it so far.
    public var isPINAwaited: Bool {
        switch phase {
        case .awaitingPIN, .challenged: writing == nil
        case .created, .preparing, .armed, .reading, .sealed, .offered, .sent, .unknown, .linked, .approved, .reversing,
            .leaving, .unwritten, .settled, .stored, .ended:
            false
        }
    }

    /// The read is on the disk before the customer is asked: whoever finds it there knows that nothing has left.
    mutating func ask(for demand: PINRequest, _ read: Read) {
        var sealed = sealed(read)
        sealed.pin = demand.attempt
        let time = entryTime(of: read)
        let event = pinRequested(demand.attempt, .kernel, within: time)
        let wait = PINWait(read: read, demand: demand, until: now.after(time + Self.pinMargin))
        write(
            [sealed], next: .awaitingPIN(wait),
            then: [.settleReader, .askPIN(demand, within: time), .publish(event)])
    }

    mutating func pin(_ reply: PINReply, _ attempt: PINAttemptID) {
        if case .challenged(let challenge) = phase, challenge.demand.attempt.id == attempt {
            return pin(reply, challenge)
        }
        guard case .awaitingPIN(let wait) = phase, wait.demand.attempt.id == attempt else { return }
        switch reply {
        case .entered(let pin) where pin.attempt == attempt: entered(pin, wait)
        case .entered, .failed:
            // Whatever it has said, it may still ask.
            outward(.withdrawPIN(wait.demand.attempt))
            endPIN(wait, .failed, .pinDeviceFailed)
        case .timedOut: endPIN(wait, .timedOut, .pinTimedOut)
        case .cancelled: endPIN(wait, .cancelled, nil, by: .customer)
        }
    }

    private mutating func entered(_ pin: OnlinePIN, _ wait: PINWait) {
        let (age, isFar) = now.monotonic.subtractingReportingOverflow(wait.read.takenAt)
        guard !isFar, age <= Self.pinTime.milliseconds else { return endPIN(wait, .timedOut, .pinTimedOut) }
        outward(.publish(completed(wait, .entered)))
        var read = wait.read
        read.entered = pin
        phase = .sealed(read, giveUpAt: now.after(demand.times.query + Self.answerMargin))
        local(.connect)
    }

    private func completed(_ wait: PINWait, _ state: PINNotice.State) -> Event {
        var event = event(.pinCompleted)
        event.pin = PINNotice(device: wait.demand.attempt.device, state: state)
        return event
    }

    mutating func pinIsLate(_ wait: PINWait) {
        outward(.withdrawPIN(wait.demand.attempt))
        endPIN(wait, .timedOut, .pinTimedOut)
    }

    /// On the wish of a till, or of the host: the device stops to ask.
    mutating func cancelPIN(_ wait: PINWait, by canceller: Canceller, _ wish: RequestID?) {
        var wait = wait
        if let wish { wait.wishes.append(wish) }
        phase = .awaitingPIN(wait)
        outward(.withdrawPIN(wait.demand.attempt))
        endPIN(wait, .cancelled, nil, by: canceller)
    }

    /// - Parameter code: what went wrong; `nil` where somebody did not want to go on.
    private mutating func endPIN(
        _ wait: PINWait, _ state: PINNotice.State, _ code: ErrorCode?, by canceller: Canceller? = nil
    ) {
        var end = change(code == nil ? .cancelled : .failed)
        end.pin = wait.demand.attempt
        end.pin?.state = PINAttempt.State(state)
        end.cancelledBy = canceller
        end.error = code.map { ErrorDetail($0, transaction: id) }
        var event = event(code == nil ? .readCancelled : .readNotCompleted)
        (event.by, event.error) = (canceller, end.error)
        let answer = code == nil ? RequestAnswer.cancelled : .nothingToCancel
        write(
            [end], next: .ended,
            then: [.publish(completed(wait, state)), .publish(event), .show(.error), .scrub]
                + wait.wishes.map { .answer($0, answer) })
    }

    /// The reader has let the card go while the PIN was awaited.
    mutating func cardHasLeft(_ read: Read) -> Read {
        guard read.pin != nil || demand.kept != nil, !read.hasLeft else { return read }
        var event = event(.readCompleted)
        event.card = read.request.card
        outward(.publish(event))
        var read = read
        read.hasLeft = true
        return read
    }
}

extension PINAttempt.State {
    init(_ state: PINNotice.State) {
        switch state {
        case .entered: self = .sent
        case .cancelled: self = .cancelled
        case .timedOut: self = .timedOut
        case .failed: self = .failed
        }
    }
}
