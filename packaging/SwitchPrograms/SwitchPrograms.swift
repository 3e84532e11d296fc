// SPDX-License-Identifier: Apache-2.0
/// Nothing of its own: a target that depends on what a payment service runs, and on the tills that try it. Apart from `Programs`, for it
/// needs libpq.
enum SwitchPrograms {}
