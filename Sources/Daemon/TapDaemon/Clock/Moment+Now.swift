// SPDX-License-Identifier: Apache-2.0
import Linux
import PaymentValues
import Transactions

extension Moment {
    /// The time that a suspended machine sleeps does not count.
    static var now: Moment { Moment(monotonic: Int64(clamping: MachineClock.awake / 1_000_000), wall: .now) }

    /// The time that a suspended machine sleeps counts, as the wall clock counts it.
    static var nowWithSleep: Moment { Moment(monotonic: Int64(clamping: MachineClock.all / 1_000_000), wall: .now) }
}
