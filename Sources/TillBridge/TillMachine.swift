// SPDX-License-Identifier: Apache-2.0
import Configuration
import ECR

/// The terminal's machine of a till, whichever protocol it speaks.
enum TillMachine {
    case caisseAP(CaisseTerminal)
    case caisseEPlus(EPlusTerminal)
    case hwProxy(ProxyTerminal)
    case zvt(ZVTTerminal)

    init(_ till: TillsFile.Till, _ contents: TillLedger.Contents) {
        let desk = TillDesk(
            lane: till.lane, installation: contents.installation, counter: contents.counter,
            attempts: contents.attempts, closedThrough: contents.closedThrough)
        let kinds: Set<TillOrder.Kind> = till.refundLimit == nil ? [.sale] : [.sale, .refund]
        switch till.kind {
        case .caisseEPlus:
            let settings = EPlusTerminal.Settings(
                currency: till.currency, kinds: kinds, answer: till.isImmediate ? .atOnce : .atTheEnd)
            self = .caisseEPlus(EPlusTerminal(desk: desk, settings: settings))
        case .caisseAP:
            self = .caisseAP(CaisseTerminal(desk: desk, settings: .init(currency: till.currency, kinds: kinds)))
        case .hwProxy:
            self = .hwProxy(
                ProxyTerminal(
                    desk: desk,
                    settings: .init(
                        currency: till.currency, terminal: String(till.terminal), hosts: till.hosts,
                        origins: till.origins)))
        case .zvt:
            var line = ZVTTerminal.Line.tcp
            if case .serial = till.line { line = .serial }
            self = .zvt(
                ZVTTerminal(
                    desk: desk,
                    settings: .init(
                        currency: till.currency, terminal: till.terminal,
                        password: till.password.map(TillMachine.packed), refunds: till.refundLimit != nil,
                        reservations: till.reservations, reversalTime: Int64(till.reversalMinutes) * 60_000), line: line
                ))
        }
    }

    /// Two digits a byte.
    private static func packed(_ digits: String) -> [UInt8] {
        let values = digits.utf8.map { $0 &- 0x30 }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    var desk: TillDesk {
        switch self {
        case .caisseAP(let terminal): terminal.desk
        case .caisseEPlus(let terminal): terminal.desk
        case .hwProxy(let terminal): terminal.desk
        case .zvt(let terminal): terminal.desk
        }
    }

    mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect] {
        switch self {
        case .caisseAP(var terminal):
            let effects = terminal.handle(input, at: now)
            self = .caisseAP(terminal)
            return effects
        case .caisseEPlus(var terminal):
            let effects = terminal.handle(input, at: now)
            self = .caisseEPlus(terminal)
            return effects
        case .hwProxy(var terminal):
            let effects = terminal.handle(input, at: now)
            self = .hwProxy(terminal)
            return effects
        case .zvt(var terminal):
            let effects = terminal.handle(input, at: now)
            self = .zvt(terminal)
            return effects
        }
    }

    mutating func request(_ request: ProxyRequest, on connection: TillConnection, at now: Int64) -> [TillEffect] {
        guard case .hwProxy(var terminal) = self else { return [.close(connection)] }
        let effects = terminal.request(request, on: connection, at: now)
        self = .hwProxy(terminal)
        return effects
    }
}
