// SPDX-License-Identifier: Apache-2.0

/// The terminal's machine of a till, whichever protocol it speaks.
public protocol TillTerminal: Sendable {
    var desk: TillMachine { get }

    /// - Parameter now: milliseconds of a clock that never goes back.
    mutating func handle(_ input: TillInput, at now: Int64) -> [TillEffect]

    /// One exchange of HTTP, for tills that speak it.
    mutating func request(_ request: ProxyRequest, on connection: TillConnection, at now: Int64) -> [TillEffect]
}

extension TillTerminal {
    public mutating func request(
        _ request: ProxyRequest, on connection: TillConnection, at now: Int64
    ) -> [TillEffect] { [.close(connection)] }
}
