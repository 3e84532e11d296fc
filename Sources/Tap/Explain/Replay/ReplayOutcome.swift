// SPDX-License-Identifier: Apache-2.0
import CardBytes
public import EMV

/// A final outcome, fit to be shown.
public struct ReplayOutcome: Equatable, Sendable, Encodable {
    public struct Object: Equatable, Sendable, Encodable {
        public let tag: String
        public let name: String?
        public let length: Int
        /// `nil` where it is hidden.
        public let value: String?
    }

    public let status: String
    public let start: String?
    public let onlineResponseData: String?
    public let cvm: String?
    public let kernel: String?
    /// The reader's AID that the application matched.
    public let aid: String?
    public let uiOnOutcome: String?
    public let uiOnRestart: String?
    public let alternateInterface: String?
    public let receipt: Bool
    public let fieldOffMilliseconds: Int?
    public let removalTimeoutMilliseconds: Int
    /// L1, L2, L3 and status word; `nil` where nothing went wrong.
    public let error: String?
    public let dataRecord: [Object]
    public let discretionaryData: [Object]

    public init(_ final: FinalOutcome) {
        let outcome = final.outcome
        let kernel = final.application?.kernel
        status = "\(outcome.status)"
        start = outcome.start.map { "\($0)" }
        onlineResponseData = outcome.onlineResponseData.map { "\($0)" }
        cvm = outcome.cvm.map { "\($0)" }
        self.kernel = kernel.map { CodeNames.kernelName($0) }
        aid = final.application.map { Hex.string($0.matchingAID) }
        uiOnOutcome = outcome.uiOnOutcome.map { Phrase.signal($0) }
        uiOnRestart = outcome.uiOnRestart.map { Phrase.signal($0) }
        alternateInterface = outcome.alternateInterface.map { "\($0)" }
        receipt = outcome.receipt
        fieldOffMilliseconds = outcome.fieldOffRequest.map { Int($0) * 100 }
        removalTimeoutMilliseconds = Int(outcome.removalTimeout) * 100
        error = Phrase.error(outcome.error)
        dataRecord = (outcome.dataRecord ?? []).map { ReplayOutcome.object($0, kernel) }
        discretionaryData = (outcome.discretionaryData ?? []).map { ReplayOutcome.object($0, kernel) }
    }

    private static func object(_ object: DataObject, _ kernel: KernelIdentifier?) -> Object {
        let isHidden = object.tag.isConstructed || AccountData.kind(object.tag, count: object.value.count) != nil
        return Object(
            tag: object.tag.description, name: DataDictionary.element(object.tag, kernel: kernel)?.name,
            length: object.value.count,
            value: isHidden ? nil : Hex.string(object.value))
    }

    var lines: [String] {
        let items: [(String, String?)] = [
            ("outcome", status), ("application", aid), ("kernel", kernel), ("cvm", cvm), ("start", start),
            ("online response data", onlineResponseData), ("message", uiOnOutcome), ("message on restart", uiOnRestart),
            ("alternate interface", alternateInterface), ("receipt", receipt ? "yes" : nil),
            ("field off", fieldOffMilliseconds.map { "\($0) ms" }),
            ("removal time-out", removalTimeoutMilliseconds == 0 ? nil : "\(removalTimeoutMilliseconds) ms"),
            ("error", error),
        ]
        return items.compactMap { name, value in value.map { "\(name): \($0)" } }
            + ReplayOutcome.lines("data record", dataRecord)
            + ReplayOutcome.lines("discretionary data", discretionaryData)
    }

    private static func lines(_ title: String, _ objects: [Object]) -> [String] {
        guard !objects.isEmpty else { return [] }
        return ["\(title):"]
            + objects.map { object in
                "  \(object.tag) \(object.name ?? "unknown tag"): \(object.value ?? "hidden, \(Phrase.bytes(object.length))")"
            }
    }
}
