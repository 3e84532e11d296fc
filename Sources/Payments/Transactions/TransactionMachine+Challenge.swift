// SPDX-License-Identifier: Apache-2.0
import PINDeviceAPI
import POSAPI
import PSPAPI
import PaymentValues

/// From an issuer's answer that wants the PIN to the continuation with it, or to the decline that the answer is. The issuer has
/// declined, without a doubt, and nothing stands: whatever goes wrong before the PIN is sent ends the payment as declined.
extension TransactionMachine {
    /// For less than so long nobody is asked.
    static let shortestPINTime: Duration = .seconds(10)

    /// - Returns: `nil` where the answer is the end.
    func challenge(
        by answer: AuthorizationAnswer, _ question: Question, _ result: PaymentResult, _ card: MaskedCard?
    ) -> PINChallenge? {
        guard answer.action == .pinRequired, answer.singleTap == true, answer.pinAttemptsLeft != 0,
            !question.mustBeReversed, var read = question.read, var demand = read.spares.first
        else { return nil }
        let time = entryTime(of: read)
        guard time >= Self.shortestPINTime else { return nil }
        read.spares.removeFirst()
        demand.isLastTry = answer.pinAttemptsLeft == 1
        return PINChallenge(
            read: read, demand: demand, decline: result, card: card, question: question.number,
            keyLife: question.keyLife, until: now.after(time + Self.pinMargin))
    }

    /// Who is asked is on the disk first: a start that finds it tells the device to stop.
    mutating func ask(for challenge: PINChallenge) {
        let time = Duration.milliseconds(challenge.until - now.monotonic) - Self.pinMargin
        let event = pinRequested(challenge.demand.attempt, .issuer, within: time)
        write(
            [], as: .pin(challenge.demand.attempt, at: now.wall), next: .challenged(challenge),
            then: [.askPIN(challenge.demand, within: time), .publish(event)])
    }

    mutating func pin(_ reply: PINReply, _ challenge: PINChallenge) {
        switch reply {
        case .entered(let pin) where pin.attempt == challenge.demand.attempt.id: entered(pin, challenge)
        case .entered, .failed:
            outward(.withdrawPIN(challenge.demand.attempt))
            decline(challenge, .failed, .pinDeviceFailed)
        case .timedOut: decline(challenge, .timedOut, .pinTimedOut)
        case .cancelled: decline(challenge, .cancelled, nil)
        }
    }

    /// The continuation has a key of its own, and goes out once the journal knows that it does. Until it is answered nobody knows what
    /// stands; a reversal of the payment takes it back, too.
    private mutating func entered(_ pin: OnlinePIN, _ challenge: PINChallenge) {
        let (age, isFar) = now.monotonic.subtractingReportingOverflow(challenge.read.takenAt)
        guard !isFar, age <= Self.pinTime.milliseconds else { return decline(challenge, .timedOut, .pinTimedOut) }
        outward(.publish(completed(challenge, .entered)))
        var sent = challenge.demand.attempt
        sent.state = .sent
        var authorization = challenge.read.request
        authorization.features = [.singleTap]
        var question = Question(
            subject: .continuation(ContinuationRequest(authorization: authorization, pin: pin)), read: challenge.read,
            askUntil: now.after(demand.times.answer), pause: demand.times.pause,
            step: .asking(until: now.after(demand.times.answer + Self.answerMargin)), reader: .free,
            keyLife: challenge.keyLife)
        question.number = challenge.question + 1
        // What the journal does not take is not sent, and ends as a question that reached nobody.
        phase = .sent(question)
        write(
            [], as: .pin(sent, at: now.wall), next: .sent(question),
            then: [question.sending(isAgain: false, within: demand.times.answer)])
    }

    private func completed(_ challenge: PINChallenge, _ state: PINNotice.State) -> Event {
        var event = event(.pinCompleted)
        event.pin = PINNotice(device: challenge.demand.attempt.device, cause: .issuer, state: state)
        return event
    }

    mutating func challengeIsLate(_ challenge: PINChallenge) {
        outward(.withdrawPIN(challenge.demand.attempt))
        decline(challenge, .timedOut, .pinTimedOut)
    }

    /// On the wish of a till, or of the host: the device stops to ask, and the issuer's decline stands.
    mutating func endWithoutPIN(_ challenge: PINChallenge, _ answer: Outward?) {
        outward(.withdrawPIN(challenge.demand.attempt))
        decline(challenge, .cancelled, nil, then: [answer].compactMap(\.self))
    }

    /// - Parameter code: what went wrong; `nil` where somebody did not want to go on.
    private mutating func decline(
        _ challenge: PINChallenge, _ state: PINNotice.State, _ code: ErrorCode?, then: [Outward] = []
    ) {
        var end = change(.declined)
        (end.result, end.card) = (challenge.decline, challenge.card)
        end.pin = challenge.demand.attempt
        end.pin?.state = PINAttempt.State(state)
        end.error = code.map { ErrorDetail($0, transaction: id) }
        var event = event(.paymentDeclined)
        (event.result, event.error, event.card) = (end.result, end.error, challenge.card?.withoutToken)
        write(
            [end], .forCertain, next: .ended,
            then: [.publish(completed(challenge, state)), .publish(event), .show(.declined), .scrub] + then)
    }
}
