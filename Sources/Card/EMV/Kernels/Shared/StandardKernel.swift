// SPDX-License-Identifier: Apache-2.0
import CardBytes

/// Where a kernel stands: which command's answer it awaits, if any.
protocol KernelState: Equatable, Sendable {
    static var finished: Self { get }
    /// The step of the transaction that this state belongs to; for a failure that does not say better by itself.
    var step: ProcessingStep { get }
}

/// A kernel of this module: what kernels 2 to 8 do alike.
protocol StandardKernel: Kernel {
    associatedtype State: KernelState

    var state: State { get set }
    var store: DataStore { get set }

    /// The end over a card whose data cannot be used.
    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome
    /// Adds what every outcome of this kernel carries.
    mutating func complete(_ outcome: inout Outcome)
}

extension StandardKernel {
    func unusable(_ l2: ErrorIndication.L2, _ statusWord: StatusWord?) -> Outcome {
        .unusableCard(l2, statusWord: statusWord)
    }

    mutating func complete(_ outcome: inout Outcome) {}

    @inline(__always)
    mutating func finish(_ outcome: consuming Outcome, signals: [UIRequest] = []) -> KernelStep {
        outcome.end(at: state.step)
        complete(&outcome)
        state = .finished
        return KernelStep(.finished(outcome), signals: signals)
    }

    /// - Parameter step: `nil` for the one of the state.
    mutating func fail(
        _ l2: ErrorIndication.L2, statusWord: StatusWord? = nil, at step: ProcessingStep? = nil,
        signals: [UIRequest] = []
    ) -> KernelStep {
        var outcome = unusable(l2, statusWord)
        if let step { outcome.end(at: step) }
        return finish(outcome, signals: signals)
    }

    /// Somebody outside wants an end (EMV Contactless Book A, Error Indication level 3).
    mutating func stopped() -> Outcome {
        var outcome = Outcome(.endApplication, error: ErrorIndication(l3: .stop))
        outcome.end(at: state.step)
        complete(&outcome)
        state = .finished
        return outcome
    }

    /// 5F2D.
    var language: [UInt8] { store.value(.languagePreference) ?? [] }

    var terminalType: TerminalType { TerminalType(rawValue: store.byte(.terminalType) ?? 0) }

    /// - Parameter hold: in units of 100 ms.
    func message(_ message: UIRequest.Message, hold: UInt32 = 0) -> UIRequest {
        UIRequest(message, .notReady, holdTime: hold, languagePreference: language)
    }

    /// The moment at which the card may leave.
    var cardRead: UIRequest { UIRequest(.cardReadOK, .cardReadSuccessfully, languagePreference: language) }
}
