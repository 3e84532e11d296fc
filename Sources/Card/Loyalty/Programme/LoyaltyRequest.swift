// SPDX-License-Identifier: Apache-2.0
/// One wish for passes: the programmes, what else the tap is for, and how the terminal presents itself.
public struct LoyaltyRequest: Sendable {
    /// Apple pass types that one session may ask for: the limit that two makers of readers set.
    public static let maximumVASMerchants = 6

    public enum Purpose: Equatable, Sendable {
        /// Passes and nothing else.
        case passes
        /// A payment follows; see `CombinedTap`.
        case passesAndPayment(stopOnPass: Bool)

        public var mode: CapabilityMode {
            switch self {
            case .passes: .passOnly
            case .passesAndPayment(let stopOnPass): CombinedTap(stopOnPass: stopOnPass).mode
            }
        }
    }

    /// A kind of thing that can be presented.
    public enum Carrier: Sendable, CaseIterable {
        /// A phone or watch with a wallet.
        case wallet
        /// An NDEF message on a Type 4 tag.
        case tag
        /// The identifier of the card itself.
        case uid
    }

    /// By priority; equal ones in the order given.
    public let programmes: [LoyaltyProgramme]
    public let purpose: Purpose
    /// In this order, on one activation, until one has a pass.
    public let carriers: [Carrier]
    /// The terminal; its mode is set from the purpose.
    public let vasTerminal: VASTerminal
    /// The mode in its capabilities is set from the purpose.
    public let smartTapTerminal: SmartTapTerminal
    public let entropy: SmartTapEntropy
    public let timestamps: TimestampPolicy?
    /// So many presentations by a person may come to nothing before the outcome says so: of a phone that is locked and stays, or goes
    /// away too early. 0: the first look is the only one.
    public let maximumPresentations: Int

    /// - Throws: `.noProgramme`, `.programmeRepeated`, `.tooManyMerchants`, or `.terminalInvalid` for a nonce or
    ///   filter of the wrong length.
    public init(
        programmes: [LoyaltyProgramme], purpose: Purpose = .passes, carriers: [Carrier] = Carrier.allCases,
        vasTerminal: VASTerminal = VASTerminal(), smartTapTerminal: SmartTapTerminal = SmartTapTerminal(),
        entropy: SmartTapEntropy = .system, timestamps: TimestampPolicy? = nil, maximumPresentations: Int = 12
    ) throws(LoyaltyConfigurationError) {
        guard !programmes.isEmpty, !carriers.isEmpty else { throw .noProgramme }
        for (index, programme) in programmes.enumerated()
        where programmes[..<index].contains(where: { $0.id == programme.id }) {
            throw .programmeRepeated(programme.id)
        }
        let merchants = programmes.count { $0.apple != nil }
        guard merchants <= LoyaltyRequest.maximumVASMerchants else { throw .tooManyMerchants(merchants) }
        guard vasTerminal.nonce.map({ $0.count == 4 }) ?? true,
            vasTerminal.filter.map({ $0.count == 5 && $0.first == 0x01 }) ?? true
        else { throw .terminalInvalid }
        self.programmes = programmes.enumerated()
            .sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
            .map(\.element)
        self.purpose = purpose
        self.carriers = carriers
        self.vasTerminal = LoyaltyRequest.terminal(vasTerminal, for: purpose)
        self.smartTapTerminal = LoyaltyRequest.terminal(smartTapTerminal, for: purpose)
        self.entropy = entropy
        self.timestamps = timestamps
        self.maximumPresentations = maximumPresentations
    }

    private static func terminal(_ terminal: VASTerminal, for purpose: Purpose) -> VASTerminal {
        var terminal = terminal
        terminal.mode = purpose.mode
        return terminal
    }

    private static func terminal(_ terminal: SmartTapTerminal, for purpose: Purpose) -> SmartTapTerminal {
        var terminal = terminal
        terminal.capabilities?.mode = SmartTapCapabilities(mode: purpose.mode).mode
        return terminal
    }
}
