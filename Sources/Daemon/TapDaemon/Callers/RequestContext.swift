// SPDX-License-Identifier: Apache-2.0
import PaymentValues

/// Whom the answer to the current request is for.
enum RequestContext {
    @TaskLocal static var audience = Audience.nobody
}
