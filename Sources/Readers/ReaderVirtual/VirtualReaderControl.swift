// SPDX-License-Identifier: Apache-2.0
public import CardSim
import Linux
public import ReaderCore
import Synchronization

/// The outside of a virtual reader: puts cards into its field and makes it fail, from any thread, by text commands.
///
/// Outlives the `VirtualReader` that a daemon opens on it, so that a reader can be detached and opened again.
public final class VirtualReaderControl: Sendable {
    /// Name of the reader, unique among the virtual ones.
    public let name: String
    let wake: WakeSignal
    private let field = Mutex(VirtualField())
    private let cardNames: [String]
    private let makeCard: @Sendable (String) -> (any VirtualCard)?

    /// - Parameters:
    ///   - cardNames: what to offer to somebody who names a card that is not there.
    ///   - card: a fresh card of that name; `nil` where there is none.
    /// - Throws: `.faulty` with errno where the process has no descriptor left.
    public init(
        name: String = "virtual", cardNames: [String] = [],
        card: @escaping @Sendable (String) -> (any VirtualCard)?
    ) throws(ReaderError) {
        self.name = name
        self.cardNames = cardNames
        makeCard = card
        wake = try ReaderError.system(try WakeSignal())
    }

    /// Obeys one line.
    ///
    /// - Returns: the state for `state`, nothing for the others.
    /// - Throws: `VirtualCommandError`; the reader is then as it was.
    @discardableResult
    public func obey(_ line: String) throws(VirtualCommandError) -> String {
        try obey(VirtualCommand(line))
    }

    /// Obeys one command; as `obey(_: String)`.
    @discardableResult
    public func obey(_ command: VirtualCommand) throws(VirtualCommandError) -> String {
        switch command {
        case .present(let name):
            let card = try makeCard(named: name)
            try change { (field) throws(VirtualCommandError) in try field.present(card, named: name) }
        case .swap(let name):
            let card = try makeCard(named: name)
            try change { (field) throws(VirtualCommandError) in field.swap(card, named: name) }
        case .remove: try change { (field) throws(VirtualCommandError) in field.remove() }
        case .collide: try change { (field) throws(VirtualCommandError) in try field.collide() }
        case .delay(let milliseconds):
            try change { (field) throws(VirtualCommandError) in field.delay(milliseconds: milliseconds) }
        case .fault(let fault): try change { (field) throws(VirtualCommandError) in try field.arm(fault) }
        case .clearFaults: try change { (field) throws(VirtualCommandError) in field.clearFaults() }
        case .detach: try change { (field) throws(VirtualCommandError) in field.detach() }
        case .attach: try change { (field) throws(VirtualCommandError) in field.attach() }
        case .hang: try change { (field) throws(VirtualCommandError) in field.isHanging = true }
        case .resume: try change { (field) throws(VirtualCommandError) in field.isHanging = false }
        case .state: return withField { $0.summary }
        }
        return ""
    }

    /// Puts a card of the caller's own into the empty field.
    ///
    /// - Throws: `.cardPresent` where one is there.
    public func present(_ card: any VirtualCard, named name: String) throws(VirtualCommandError) {
        try change { (field) throws(VirtualCommandError) in try field.present(card, named: name) }
    }

    /// One answer line to one command line, without line end: `ok`, `ok STATE` or `error REASON`.
    public func answer(to line: String) -> String {
        do throws(VirtualCommandError) {
            let text = try obey(line)
            return text.isEmpty ? "ok" : "ok \(text)"
        } catch {
            return "error \(error)"
        }
    }

    func withField<Result: Sendable>(_ body: (inout VirtualField) -> Result) -> Result {
        field.withLock { body(&$0) }
    }

    /// Holds the reader's thread while the reader hangs.
    func hold() {
        while withField({ $0.isHanging }) { _ = wake.wait() }
    }

    private func makeCard(named name: String) throws(VirtualCommandError) -> any VirtualCard {
        guard let card = makeCard(name) else { throw .unknownCard(name, known: cardNames) }
        return card
    }

    private func change(
        _ body: (inout VirtualField) throws(VirtualCommandError) -> Void
    ) throws(VirtualCommandError) {
        try field.withLock { (field) throws(VirtualCommandError) in try body(&field) }
        wake.signal()
    }
}
