// SPDX-License-Identifier: Apache-2.0
package import LocalHTTP

extension ServiceNotification {
    /// Runs a service until `stop` returns, of which the manager is told, or until `body` ends.
    ///
    /// - Throws: what `body` ended with.
    package func run<Failure: Error>(
        until stop: @escaping @Sendable () async -> Void,
        _ body: @escaping @Sendable () async throws(Failure) -> Void
    ) async throws(Failure) {
        let failure = await withTaskGroup(of: Failure?.self) { group in
            group.addTask {
                do throws(Failure) {
                    try await body()
                    return nil
                } catch {
                    return error
                }
            }
            group.addTask {
                await stop()
                send(.stopping)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
        if let failure { throw failure }
    }
}
