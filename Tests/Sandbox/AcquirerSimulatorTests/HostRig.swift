// SPDX-License-Identifier: Apache-2.0
import CardBytes
import ISO8583
import PaymentValues
import Testing

@testable import AcquirerSimulator

/// A host that a test asks without a line.
struct HostRig {
    var host: SimulatedHost
    var now = Timestamp("2026-11-23T14:30:05Z") ?? Timestamp(milliseconds: 0)
    private(set) var written: [BookLine] = []

    init(_ packager: Packager.BuiltIn = .bcd1987, signsOn: Bool = true, _ change: (inout HostRules) -> Void = { _ in })
        throws
    {
        var rules = HostRules()
        change(&rules)
        host = SimulatedHost(packager: try Packager(packager), rules: rules)
        if signsOn {
            var message = ISOMessage(host.packager.network.type)
            message.set(11, "000001")
            message.set(7, "1123143005")
            message.set(host.packager.network.field, host.packager.network.signOn)
            let answer = ask(message)
            #expect(answer.first?.text(39) == host.packager.network.accepted.min())
        }
    }

    /// What is sent at once.
    mutating func ask(_ message: ISOMessage, on connection: Int = 1) -> [ISOMessage] {
        effects(message, on: connection).compactMap {
            guard case .send(let answer, after: 0) = $0 else { return nil }
            return answer
        }
    }

    mutating func effects(_ message: ISOMessage, on connection: Int = 1) -> [HostEffect] {
        let effects = host.receive(message, on: connection, at: now)
        var hasSent = false
        for effect in effects {
            if case .book(let line) = effect {
                #expect(!hasSent, "a line of the book after something was sent")
                written.append(line)
            } else {
                hasSent = true
            }
        }
        return effects
    }

    /// A payment in euros of a card of the catalogue, without chip data.
    func payment(_ type: UInt16, _ amount: UInt64, trace: Int, reference: String? = nil) throws -> ISOMessage {
        var message = ISOMessage(try #require(MessageType(type)))
        message.set(2, "4761739001010119")
        message.set(3, "000000")
        message.set(4, SimulatedHost.digits(amount, 12))
        message.set(host.is1993 ? 12 : 7, host.is1993 ? "261123143005" : "1123143005")
        message.set(11, SimulatedHost.digits(UInt64(trace), 6))
        message.set(32, "12345678901")
        message.set(37, reference ?? "632714" + SimulatedHost.digits(UInt64(trace), 6))
        message.set(41, "TERM0001")
        message.set(42, "M-4711         ")
        message.set(49, "978")
        return message
    }

    /// 0420 for a payment.
    func reversal(of original: ISOMessage, trace: Int, remains: UInt64? = nil, type: UInt16? = nil) throws -> ISOMessage
    {
        var message = ISOMessage(try #require(MessageType(type ?? (host.is1993 ? 1420 : 420))))
        for field in [2, 3, 4, 32, 37, 41, 42, 49] { message[field] = original[field] }
        message.set(11, SimulatedHost.digits(UInt64(trace), 6))
        message.set(host.is1993 ? 12 : 7, host.is1993 ? "261123143105" : "1123143105")
        let time = original.text(host.is1993 ? 12 : 7) ?? ""
        let head = original.type.description + (original.text(11) ?? "") + time
        if host.is1993 {
            message.set(56, head + "11" + (original.text(32) ?? ""))
            message.set(24, "400")
        } else {
            message.set(90, head + (original.text(32) ?? "") + "00000000000")
            if let remains { message.set(95, SimulatedHost.digits(remains, 12) + "000000000000C00000000C00000000") }
        }
        return message
    }
}
