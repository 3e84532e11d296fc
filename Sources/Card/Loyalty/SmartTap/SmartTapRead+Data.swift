// SPDX-License-Identifier: Apache-2.0
internal import CardBytes

extension SmartTapRead: CustomStringConvertible, CustomReflectable {
    public var description: String { "<Smart Tap read, \(parts.count) bytes>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// GET DATA, its parts, and what follows.
extension SmartTapRead {
    mutating func getData(_ keys: SmartTapSessionKeys) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        phase = .getting(keys)
        parts = []
        partCount = 0
        let request = (session: SmartTapSession(id: sessionID, sequence: sequence), collector: collector)
        let capabilities = terminal.capabilities
        return send { () throws(APDUError) in
            try SmartTapRequest.getData(request.session, collector: request.collector, capabilities: capabilities)
        }
    }

    mutating func dataReceived(
        _ response: ResponseAPDU, _ keys: SmartTapSessionKeys
    ) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        let status = SmartTapStatus(response.status)
        switch status {
        case .moreData:
            partCount += 1
            guard partCount <= SmartTap.maximumParts,
                parts.count + response.data.count <= SmartTap.maximumAnswerLength
            else { return finish(.unreadable(.tooLarge)) }
            // A record can be cut anywhere: nothing is parsed before the last part.
            parts += response.data
            return send { () throws(APDUError) in try SmartTap.getMore() }
        case .success, .successWithoutPass, .successPreSigned, .notReadyForPayment, .notReadyForPaymentWithoutPass:
            outcome.payment = status.paymentReadiness
            return complete(parts + response.data, keys, status)
        case .transient where retry():
            return getData(keys)
        case .transient, .deviceLocked, .choiceShown, .tooManyRequests, .terminalError, .versionNotSupported,
            .authenticationFailed, .noApplication, .other:
            return fail(response.status)
        }
    }

    private mutating func complete(
        _ data: [UInt8], _ keys: SmartTapSessionKeys, _ status: SmartTapStatus
    ) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        parts = []
        let withoutPass = status == .successWithoutPass || status == .notReadyForPaymentWithoutPass
        if data.isEmpty, withoutPass { return finish(.noPass) }
        guard let answer = SmartTapResponse(.getData, data), answer.session.id == sessionID else {
            return finish(.unreadable(.malformed))
        }
        guard answer.session.status == SmartTapSession.ok else {
            if answer.session.status == SmartTapSession.resend, retry() { return getData(keys) }
            return finish(.unreadable(.badSession(answer.session.status)))
        }
        sequence = answer.session.sequence &+ 1
        guard let payload = answer.bundlePayload else {
            return finish(withoutPass ? .noPass : .unreadable(.malformed))
        }
        guard let bundle = SmartTapBundle(payload: payload) else { return finish(.unreadable(.tooShort)) }
        guard bundle.flags.contains(.encrypted) || collector.acceptsUnencrypted else {
            return finish(.unreadable(.notEncrypted))
        }
        switch bundle.open(with: keys) {
        case .failure(let error):
            return finish(.unreadable(error.defect))
        case .success(let plaintext):
            guard let objects = SmartTapObjectReader.objects(plaintext) else {
                return finish(.unreadable(.malformed))
            }
            outcome.objects = objects
            outcome.isAuthentic = bundle.flags.contains(.encrypted)
            outcome.status = objects.contains(where: \.isPass) ? .delivered : .noPass
            return sendPush()
        }
    }

    private mutating func sendPush() -> TapStep<LoyaltySignal, SmartTapOutcome> {
        guard let push else { return finish(outcome.status) }
        phase = .pushing
        let session = SmartTapSession(id: sessionID, sequence: sequence)
        guard let command = try? SmartTapRequest.push(session, push) else { return finish(outcome.status) }
        return TapStep(.transmit(command))
    }

    mutating func pushed(_ response: ResponseAPDU) -> TapStep<LoyaltySignal, SmartTapOutcome> {
        if SmartTapStatus(response.status) == .success, let answer = SmartTapResponse(.push, response.data) {
            outcome.isPushed = answer.session.id == sessionID && answer.session.status == SmartTapSession.ok
        }
        return finish(outcome.status)
    }
}
