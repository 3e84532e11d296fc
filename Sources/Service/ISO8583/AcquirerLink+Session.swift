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
        case .keying(_, let until):
            guard until <= moment.milliseconds else { return [] }
            session = .down
            return [.disconnect(.noKey)]
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
        if case .keying(let request, _) = session, message.answers(request, packager.answers) {
            guard packager.network.accepted.contains(message.text(39) ?? "") else {
                session = .down
                return [.disconnect(.noKey)]
            }
            return [.takeKey(message)]
        }
        guard case .signingOn(let request, _) = session, message.answers(request, packager.answers) else { return [] }
        let code = message.text(39) ?? ""
        guard packager.network.accepted.contains(code) else {
            session = .down
            return [.disconnect(.signOnRefused(code))]
        }
        if packager.mac?.exchange != nil {
            guard let request = network(packager.network.keyChange, moment) else { return [.disconnect(.noKey)] }
            session = .keying(request, until: later(moment, rules.networkWithin))
            return [.send(request)]
        }
        session = .up(echo: nil, until: 0, missed: 0)
        return sendDue(moment)
    }

    /// What became of the key that a message of the host brought.
    mutating func keyTaken(_ message: ISOMessage, _ isTaken: Bool, _ moment: LinkMoment) -> [LinkEffect] {
        var effects: [LinkEffect] = []
        if message.type.isRequestOrAdvice, var answer = networkAnswer(message) {
            if let code = isTaken ? packager.network.accepted.min() : packager.network.refused { answer.set(39, code) }
            effects.append(.send(answer))
        }
        guard isTaken else {
            effects.append(.alarm(.keyRefused))
            guard case .keying = session, !message.type.isRequestOrAdvice else { return effects }
            session = .down
            return effects + [.disconnect(.noKey)]
        }
        effects.append(.useKey(message))
        guard case .keying = session else { return effects }
        session = .up(echo: nil, until: 0, missed: 0)
        return effects + sendDue(moment)
    }

    private func networkAnswer(_ request: ISOMessage) -> ISOMessage? {
        guard let type = request.type.answer else { return nil }
        var answer = request.keeping([7, 11, 12, 15, 32, 33, packager.network.field])
        answer.type = type
        return answer
    }

    /// What the host asks for by itself: echoes, its sign-off and sign-on, its next day, another key. What the packager does not say is obeyed is refused.
    private mutating func serve(_ request: ISOMessage, _ moment: LinkMoment) -> [LinkEffect] {
        let rules = packager.network
        switch session {
        case .down, .leaving: return [.alarm(.notServed(request.type))]
        case .signingOn, .keying, .up, .signedOff: break
        }
        guard var answer = networkAnswer(request) else { return [.alarm(.notServed(request.type))] }
        var word = request.text(rules.field).flatMap(rules.word).flatMap { rules.obeyed.contains($0) ? $0 : nil }
        if request.text(rules.field) == rules.keyChange, let mac = packager.mac {
            guard mac.exchange == nil else { return [.takeKey(request)] }
            // The key of the settings stays: to accept another one would be to lose it.
            word = nil
        }
        if let code = word == nil ? rules.refused : rules.accepted.min() { answer.set(39, code) }
        guard let word else { return [.send(answer), .alarm(.notServed(request.type))] }
        switch word {
        // A key is for messages that carry a code, and here none does.
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
