// SPDX-License-Identifier: Apache-2.0
import Glibc
public import Loyalty
import ReaderCore

extension WallClock {
    /// The machine's own clock, which somebody else keeps right.
    public static var system: WallClock { WallClock(unixSeconds: Int64(time(nil)), at: monotonicNow()) }
}
