// SPDX-License-Identifier: Apache-2.0
import Linux
import Transactions
import Wire

extension Moment {
    /// The time that a suspended machine sleeps counts: deadlines pass meanwhile.
    static var now: Moment { Moment(monotonic: Int64(clamping: MachineClock.all / 1_000_000), wall: .now) }
}
