// SPDX-License-Identifier: Apache-2.0
public import PINDeviceAPI
public import PaymentValues
public import Transactions

extension Journal {
    /// Entries of a PIN that were asked for and have no end: the daemon died meanwhile, and the device may still ask.
    public func awaitedPINs() throws(JournalError) -> [(id: PINAttemptID, device: String, payment: TransactionID)] {
        try database.query("SELECT id, device, payment FROM pin_attempt WHERE state = 'asked' ORDER BY id") {
            (row) throws(JournalError) in
            guard let id = PINAttemptID(try row.text(0)) else { throw .damaged }
            return (id, try row.text(1), try row.transactionID(2))
        }
    }

    /// What an issuer has asked for is noted beside a state that stays what it is.
    ///
    /// - Returns: whether the payment is still sent, and nothing else.
    public func note(
        _ attempt: PINAttempt, whileSent id: TransactionID, at time: Timestamp
    ) throws(JournalError) -> Bool {
        try database.transaction { () throws(JournalError) in
            guard try state(of: id) == .sent else { return false }
            try note(attempt, of: id, at: time)
            return true
        }
    }

    /// Before the change of state that it comes with: what that state leaves behind has no entry that still waits.
    func note(_ attempt: PINAttempt?, of id: TransactionID, at time: Timestamp) throws(JournalError) {
        guard let attempt else { return }
        guard attempt.state != .asked else {
            return try database.run(
                "INSERT INTO pin_attempt (id, payment, device, format, key_set, state, asked_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    .text(attempt.id.text), .text(id.text), .text(attempt.device), .integer(Int64(attempt.format)),
                    .text(attempt.keySet), .text(attempt.state.rawValue), .integer(time.milliseconds),
                ])
        }
        try database.run(
            "UPDATE pin_attempt SET state = ?, ended_at = ? WHERE id = ? AND payment = ?",
            [
                .text(attempt.state.rawValue), .integer(time.milliseconds), .text(attempt.id.text), .text(id.text),
            ])
    }
}
