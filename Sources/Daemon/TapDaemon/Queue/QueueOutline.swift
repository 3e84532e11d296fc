// SPDX-License-Identifier: Apache-2.0
import Journal

/// How much waits to be forwarded, as far as that is known.
struct QueueOutline: Equatable, Sendable {
    /// `nil` where it cannot be read: then nobody may take it for empty.
    var extent: QueueExtent?
    var isOverdue: Bool?
    /// What keeps the queue, or something in it, from being read.
    var failure: JournalError?
}
