// SPDX-License-Identifier: Apache-2.0
#ifndef CPQ_H
#define CPQ_H

#include <postgresql/libpq-fe.h>

// Notices go nowhere: libpq prints them to standard error, and a DETAIL shows keys.
static inline void cpq_ignore_notice(void *nothing, const PGresult *result) {
    (void)nothing;
    (void)result;
}

static inline void cpq_ignore_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, cpq_ignore_notice, 0);
}

// PG_DIAG_SQLSTATE is a character, which Swift does not import as an int.
static inline const char *cpq_sql_state(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *cpq_constraint(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME);
}

// Swift has one buffer for all values, each with a zero behind it, and where each begins; -1 for null.
static inline int cpq_send_prepared(
    PGconn *connection, const char *name, int count, const char *texts, const int *begins) {
    const char *values[64];
    if (count < 0 || count > 64) return 0;
    for (int index = 0; index < count; index++) values[index] = begins[index] < 0 ? 0 : texts + begins[index];
    return PQsendQueryPrepared(connection, name, count, values, 0, 0, 0);
}

#endif
