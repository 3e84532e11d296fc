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
        case .signedOff(let until): return until <= moment.milliseconds ? connect(moment) : []
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

    /// A payment was not answered: whether anybody is there is asked at once, and a silence to that ends the connection.
    mutating func probe(_ moment: LinkMoment) -> [LinkEffect] {
        guard case .up(let asked, let until, _) = session else { return [] }
        let last = max(0, rules.missedEchoes - 1)
        guard asked == nil else {
            session = .up(echo: asked, until: until, missed: last)
            return []
        }
        guard let message = network(packager.network.echo, moment) else { return [] }
        session = .up(echo: message, until: later(moment, rules.networkWithin), missed: last)
        return [.send(message)]
    }

    /// Any message shows that the host lives, and ends the wait for an echo.
    mutating func hear(_ moment: LinkMoment) {
        lastHeard = moment.milliseconds
        if isSignedOn { session = .up(echo: nil, until: 0, missed: 0) }
    }

    mutating func receiveNetwork(_ message: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        if message.type.isRequestOrAdvice { return serve(message, moment) }
        guard case .signingOn(let request, _) = session, message.answers(request, packager.answers) else { return [] }
        let code = message.text(39) ?? ""
        guard packager.network.accepted.contains(code) else {
            session = .down
            return [.disconnect(.signOnRefused(code))]
        }
        session = .up(echo: nil, until: 0, missed: 0)
        return sendDue(moment)
    }

    /// What the host asks for by itself: echoes, its sign-off and sign-on, its next day, another key. What the packager does not say is obeyed is refused.
    private mutating func serve(_ request: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        let rules = packager.network
        switch session {
        case .down, .leaving: return [.alarm(.notServed(request.type))]
        case .signingOn, .up, .signedOff: break
        }
        guard let type = request.type.answer else { return [.alarm(.notServed(request.type))] }
        let word = request.text(rules.field).flatMap(rules.word).flatMap { rules.obeyed.contains($0) ? $0 : nil }
        var answer = request.keeping([7, 11, 12, 15, 32, 33, rules.field])
        answer.type = type
        if let code = word == nil ? rules.refused : rules.accepted.min() { answer.set(39, code) }
        guard let word else { return [.send(answer), .alarm(.notServed(request.type))] }
        switch word {
        // A key is for messages that are authenticated, and none is.
        case .echo, .keyChange: return [.send(answer)]
        case .signOff:
            session = .signedOff(until: later(moment, self.rules.signOnAgainAfter))
            return [.send(answer), .alarm(.signedOff)]
        case .signOn:
            guard case .signedOff = session else { return [.send(answer)] }
            session = .up(echo: nil, until: 0, missed: 0)
            return [.send(answer)] + sendDue(moment)
        case .cutOver: return [.send(answer), .cutOver(request.text(15))]
        }
    }
}
