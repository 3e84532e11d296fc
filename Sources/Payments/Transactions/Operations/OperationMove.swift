// SPDX-License-Identifier: Apache-2.0
public import POSAPI
public import PSPAPI

/// What came back to a request for an operation, or to a question about one.
public enum OperationReply: Equatable, Sendable {
    case answered(AdapterOperationAnswer)
    /// The payment service has it and has not decided.
    case running
    /// 404: it was never seen.
    case neverSeen
    /// The service does not take the request at all.
    case refused
    /// 422: the service has another request under the same id.
    case otherBody
    /// Certainly nothing has reached the service.
    case notDelivered
    /// No answer, or one that says nothing.
    case unusable
}

/// What holds in the moment in which an operation goes on.
public struct OperationFacts: Equatable, Sendable {
    /// What the payment service says of itself does not include the operation.
    public var isUnsupported: Bool
    /// The payment service holds the sum no longer, or not for long enough.
    public var isExpired: Bool
    /// Ages can be told from the wall clock.
    public var isClockBelieved: Bool
    /// How long the service keeps keys; `nil` as long as it has not said so.
    public var keyLife: Duration?

    public init(
        isUnsupported: Bool = false, isExpired: Bool = false, isClockBelieved: Bool = true,
        keyLife: Duration? = .seconds(AdapterHealth.defaultKeyLife)
    ) {
        self.isUnsupported = isUnsupported
        self.isExpired = isExpired
        self.isClockBelieved = isClockBelieved
        self.keyLife = keyLife
    }
}

/// A person's word on an operation that gets none from the payment service.
public struct OperationResolution: Equatable, Sendable {
    public var isDone: Bool
    /// Who says so, and from where that is known.
    public var evidence: String
    /// Of a refund, which is a transaction: it shows who has settled it.
    public var settlement: Settlement?

    public init(isDone: Bool, evidence: String, settlement: Settlement? = nil) {
        self.isDone = isDone
        self.evidence = evidence
        self.settlement = settlement
    }
}

/// Everything that can happen to an operation.
public enum OperationInput: Equatable, Sendable {
    /// Its time has come, or the service can be reached again.
    case due(OperationFacts)
    case connected
    case notConnected
    case replied(OperationReply, question: Int)
    case written(Int)
    case notWritten(Int)
    /// The till takes it back.
    case withdraw
    case resolve(OperationResolution)
}

/// Why nothing was carried out.
public enum OperationEnd: Equatable, Sendable {
    /// The payment service cannot do it. Nothing was sent.
    case unsupported
    /// Its time was over. Nothing was sent.
    case expired
    /// Nothing was sent, and the till has taken it back.
    case withdrawn
    /// The payment service does not take the request, and nobody has it.
    case notTaken
    /// The payment service's own answer.
    case declined
}

/// What is to be written down: the next step is taken once it is.
public enum OperationNote: Equatable, Sendable {
    /// About to be sent, for the first time or again.
    case sent
    /// Nobody knows what became of it, until it is asked about after `pause`.
    ///
    /// - Parameter isStuck: a person has to look at it.
    case unknown(pause: Duration, isStuck: Bool)
    /// It rests in the state that it has.
    case resting(pause: Duration)
    case done(AdapterOperationAnswer)
    case refused(AdapterOperationAnswer?, OperationEnd)
    case resolved(OperationResolution)
    /// The service says the contrary of what has ended it.
    case contradicted
}

/// What a machine wants done.
public enum OperationEffect: Equatable, Sendable {
    case connect
    case write(OperationNote, number: Int)
    /// Over the connection that stands, with the id of the operation as its key.
    case send(question: Int)
    case ask(question: Int)
}
