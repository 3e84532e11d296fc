// SPDX-License-Identifier: Apache-2.0
import CardBytes
import Codes
public import EMV

/// Which of a card's applications was taken, and why.
public enum ApplicationChoice: Equatable, Sendable {
    /// The terminal supports one of the card's applications.
    case only
    /// The card's own order of several (87).
    case cardPriority
    /// The merchant's order put it before one that the card wanted first.
    case merchantPreference
    /// Taken because those before it were refused by the card or by their kernel.
    case fallback
    /// The terminal supports none of those that the card lists.
    case unsupported(UnsupportedApplication)
    /// There is no directory, or an empty one.
    case nothingListed

    init(
        _ final: FinalOutcome, _ directory: ResponseAPDU?, _ configuration: TerminalConfiguration,
        _ transaction: Transaction
    ) {
        let analysis = SelectionAnalysis(
            configuration: configuration, transaction: transaction, directory: directory)
        guard let first = analysis.candidates.first else {
            let unsupported = analysis.applications.filter(\.usable.isEmpty)
                .min { ($0.priority == 0 ? 16 : $0.priority) < ($1.priority == 0 ? 16 : $1.priority) }
            self = unsupported.map { .unsupported(UnsupportedApplication($0)) } ?? .nothingListed
            return
        }
        let names = Set(analysis.candidates.map { analysis.applications[$0.application].adfName })
        if names.count == 1 {
            self = .only
        } else if let chosen = final.application, chosen.adfName != analysis.applications[first.application].adfName {
            self = .fallback
        } else {
            self = analysis.isReordered ? .merchantPreference : .cardPriority
        }
    }

    /// For logs.
    public var reason: String {
        switch self {
        case .only: "the only one that the terminal supports"
        case .cardPriority: "first by the card's priority"
        case .merchantPreference: "first by the merchant's preference"
        case .fallback: "next, after a refusal"
        case .unsupported(let application): "not supported: \(application)"
        case .nothingListed: "the card lists none"
        }
    }
}

/// An application for which the terminal has no kernel: those of many domestic schemes are not public.
public struct UnsupportedApplication: Equatable, Sendable {
    /// `Interac`, `RuPay` …; `nil` for a provider that nobody here knows.
    public let scheme: String?
    /// The ADF name's provider and, where that is known, what two bytes say of the product. Not more: a card may write
    /// anything there, its own number as well.
    public let aid: [UInt8]
    /// The kernel that the card asks for; `nil` where it names none and its provider has none by default.
    public let kernel: KernelIdentifier?

    init(_ application: SelectionAnalysis.ListedApplication) {
        scheme = PaymentNetwork(aid: application.adfName)?.name
        aid = Array(application.adfName.prefix(scheme == nil ? 5 : 7))
        kernel = application.requestedKernel
    }
}

extension UnsupportedApplication: CustomStringConvertible {
    public var description: String {
        let kernel = kernel.map { "kernel \(Hex.string(Tag($0.rawValue).bytes))" } ?? "no kernel named"
        return "\(scheme ?? "unknown scheme"), AID \(Hex.string(aid)), \(kernel)"
    }
}
