// SPDX-License-Identifier: Apache-2.0
/// What cards say is written down in hex and BCD: whoever has this room has both.
@_exported public import Digits
