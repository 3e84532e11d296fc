// SPDX-License-Identifier: Apache-2.0
/// How a test card decides. Real ones weigh counters and limits.
public enum CardDisposition: Sendable {
    /// Approves offline where terminal and card can, else goes online.
    case offlineWherePossible
    case alwaysOnline
    case alwaysDeclines
}
