// SPDX-License-Identifier: Apache-2.0
/// How a worker process ended.
public enum WorkerEnd: Equatable, Sendable {
    case exited(Int32)
    /// By that signal: 6 and 11 are libnfc that has gone down, 9 is the end of one that hung.
    case signalled(Int32)
    /// The kernel has not given it up yet.
    case stillEnding
}
