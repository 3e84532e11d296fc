// SPDX-License-Identifier: Apache-2.0
/// The edition of Book B that Entry Point keeps to where editions differ.
public enum EntryPointVersion: String, Sendable, CaseIterable {
    /// A Kernel Identifier (9F2A) of one byte 00 asks for any kernel; a start at B without pre-processing leaves the TTQ
    /// as configured.
    case v2_5 = "2.5"
    /// A Kernel Identifier of one byte 00 asks for the RID's default kernel; a start at B clears TTQ byte 2 bits 8 and 7.
    case v2_12 = "2.12"
}
