// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What is to be done, for several who take one after the other.
public final class WorkList<Element: Sendable>: Sendable {
    private let rest: Mutex<ArraySlice<Element>>

    public init(_ elements: some Sequence<Element>) { rest = Mutex(Array(elements)[...]) }

    /// - Returns: `nil` once nothing is left.
    public func next() -> Element? { rest.withLock { $0.popFirst() } }
}
