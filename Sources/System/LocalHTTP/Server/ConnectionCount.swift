// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// How many connections a server has, for whoever makes the server's handler and so is there before it.
public final class ConnectionCount: Sendable {
    private let number = Atomic<Int>(0)

    public init() {}

    public var count: Int { number.load(ordering: .relaxed) }

    func opened() { number.wrappingAdd(1, ordering: .relaxed) }

    func closed() { number.wrappingSubtract(1, ordering: .relaxed) }
}
