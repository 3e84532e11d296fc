// SPDX-License-Identifier: Apache-2.0
/// Nothing of its own: a target that depends on every program, so that one build makes them all and no more.
enum Programs {}
