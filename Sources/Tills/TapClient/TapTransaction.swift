// SPDX-License-Identifier: Apache-2.0
import LocalHTTP
public import POSAPI
public import PaymentValues

/// A transaction that this process has started.
///
/// The daemon ties it to the connection that this object holds: when the object is let go, or the process ends, before
/// a card was read, the transaction is cancelled. A request with `detached` goes on by itself.
public final class TapTransaction: Sendable {
    /// As the daemon wrote it down.
    public let started: Transaction
    private let client: TapClient
    private let connection: HTTPClientConnection

    /// Seconds that one question may be left open by the daemon; then it is asked again.
    private static let waitSeconds = 25

    init(started: Transaction, client: TapClient, connection: HTTPClientConnection) {
        self.started = started
        self.client = client
        self.connection = connection
    }

    public var id: TransactionID { started.id }

    /// Waits until the transaction has come to its end, and returns it: approved, declined, cancelled, failed …
    ///
    /// Waits as long as it takes; also `unknown` is waited through, because the daemon resolves it. Cancelling the
    /// calling task closes the connection, which has the effect of letting the object go.
    /// - Parameter maximumOutage: how long the daemon may be away meanwhile, for instance to be restarted.
    /// - Throws: what the daemon answers, or why it cannot be reached. The transaction may go on then.
    public func settled(maximumOutage: Duration = .seconds(30)) async throws(TapClientError) -> Transaction {
        var connection: HTTPClientConnection? = connection
        var outage = Outage(of: client.path, maximum: maximumOutage)
        while true {
            switch await ask(&connection) {
            case .success(let answer):
                outage.isOver()
                let transaction: Transaction = try TapClient.decode(answer)
                if transaction.state.isSettled { return transaction }
            case .failure(let error):
                connection = nil
                try await outage.wait(after: error)
            }
        }
    }

    /// Asks for the transaction to be cancelled. The answer says whether it was in time; `tooLate` is no error.
    @discardableResult
    public func cancel() async throws(TapClientError) -> CancelAnswer { try await client.cancel(id) }

    private func ask(
        _ connection: inout HTTPClientConnection?
    ) async -> Result<HTTPClientAnswer, HTTPClientError> {
        do throws(HTTPClientError) {
            let open: HTTPClientConnection
            if let connection { open = connection } else { open = try await client.connection() }
            connection = open
            let question = HTTPClientRequest(.get, "/v1/transactions/\(id)?wait=\(Self.waitSeconds)")
            return .success(try await open.send(question, answerWithin: .seconds(Self.waitSeconds) + client.answerTime))
        } catch {
            return .failure(error)
        }
    }
}
