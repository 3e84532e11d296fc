// SPDX-License-Identifier: Apache-2.0
/// Sign-on, echo, sign-off.
extension AcquirerLink {
    mutating func connect(_ moment: LinkMoment) -> [LinkEffect] {
        lastHeard = moment.milliseconds
        guard let message = network(packager.network.signOn, moment) else { return [.disconnect(.noSignOn)] }
        session = .signingOn(message, until: later(moment, rules.networkWithin))
        return [.send(message)]
    }

    mutating func leave(_ moment: LinkMoment) -> [LinkEffect] {
        guard isSignedOn, let message = network(packager.network.signOff, moment) else {
            session = .down
            return [.disconnect(.left)]
        }
        session = .leaving
        return [.send(message), .disconnect(.left)]
    }

    private mutating func network(_ code: String, _ moment: LinkMoment) -> ISOMessage? {
        var message = ISOMessage(packager.network.type)
        message.set(packager.network.field, code)
        if packager.version != .iso1987 { message.set(12, moment.time.whole) }
        return stamped(message, moment)
    }

    /// What is due in the session itself.
    mutating func expireSession(_ moment: LinkMoment) -> [LinkEffect] {
        switch session {
        case .down, .leaving: return []
        case .signingOn(_, let until):
            guard until <= moment.milliseconds else { return [] }
            session = .down
            return [.disconnect(.noSignOn)]
        case .up(.some, let until, let missed):
            guard until <= moment.milliseconds else { return [] }
            guard missed + 1 < rules.missedEchoes, let message = network(packager.network.echo, moment) else {
                session = .down
                return [.disconnect(.noEcho)]
            }
            session = .up(echo: message, until: later(moment, rules.networkWithin), missed: missed + 1)
            return [.send(message)]
        case .up(nil, _, let missed):
            guard silence <= moment.milliseconds, let message = network(packager.network.echo, moment) else {
                return []
            }
            session = .up(echo: message, until: later(moment, rules.networkWithin), missed: missed)
            return [.send(message)]
        }
    }

    /// Any message shows that the host lives, and ends the wait for an echo.
    mutating func hear(_ moment: LinkMoment) {
        lastHeard = moment.milliseconds
        if isSignedOn { session = .up(echo: nil, until: 0, missed: 0) }
    }

    mutating func receiveNetwork(_ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        if message.type.isRequestOrAdvice { return serve(message) }
        guard case .signingOn(let request, _) = session, message.answers(request) else { return [] }
        let code = message.text(39) ?? ""
        guard packager.network.accepted.contains(code) else {
            session = .down
            return [.disconnect(.signOnRefused(code))]
        }
        session = .up(echo: nil, until: 0, missed: 0)
        return sendDue(moment)
    }

    /// Hosts ask for echoes, too.
    private func serve(_ request: ISOMessage) -> [LinkEffect] {
        guard isSignedOn, let type = request.type.answer else { return [.alarm(.notServed(request.type))] }
        let isEcho = request.text(packager.network.field) == packager.network.echo
        var answer = request.keeping([7, 11, 12, packager.network.field])
        answer.type = type
        let code = isEcho ? packager.network.accepted.min() : packager.network.refused
        if let code { answer.set(39, code) }
        return isEcho ? [.send(answer)] : [.send(answer), .alarm(.notServed(request.type))]
    }
}
