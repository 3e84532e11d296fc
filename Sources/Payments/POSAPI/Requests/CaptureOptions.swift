// SPDX-License-Identifier: Apache-2.0
public import PaymentValues

/// How an approved amount is to be captured. `manual` is what `amountStatus: preauthorized` says without more.
public struct CaptureOptions: Equatable, Sendable {
    public enum Mode: String, Codable, CaseIterable, Sendable {
        /// At once.
        case automatic
        /// By a capture, later. Until then the amount is held only.
        case manual
    }

    public var mode: Mode
    /// With `manual`: it is wished to be held for at least so long. How long it is, the payment service says.
    public var before: Timestamp?
    /// With `manual`: adjustments will come.
    public var incremental: Bool?

    public init(_ mode: Mode, before: Timestamp? = nil, incremental: Bool? = nil) {
        self.mode = mode
        self.before = before
        self.incremental = incremental
    }
}

extension CaptureOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case mode, before, incremental
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.strictContainer(keyedBy: CodingKeys.self)
        mode = try members.decode(Mode.self, forKey: .mode)
        before = try members.decodeIfPresent(Timestamp.self, forKey: .before)
        incremental = try members.decodeIfPresent(Bool.self, forKey: .incremental)
        guard mode == .automatic else { return }
        if before != nil { throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.before) }
        if incremental != nil { throw decoder.refusal(.requestFieldNotApplicable, at: CodingKeys.incremental) }
    }
}

extension TransactionRequest {
    /// Reads `capture`, after `amountStatus`: both say the same of one amount, or the request says nothing.
    mutating func readCapture(
        _ members: KeyedDecodingContainer<CodingKeys>, _ decoder: any Decoder
    ) throws {
        capture = try members.decodeIfPresent(CaptureOptions.self, forKey: .capture)
        switch (capture?.mode, amountStatus) {
        case (nil, _), (.manual, .preauthorized), (.automatic, nil), (.automatic, .final), (.automatic, .pending): break
        case (.manual, nil): amountStatus = .preauthorized
        case (.manual, .final), (.manual, .pending), (.automatic, .preauthorized):
            throw decoder.refusal(.requestFieldConflict, at: CodingKeys.capture)
        }
    }
}
