// SPDX-License-Identifier: Apache-2.0
#ifndef CPQ_H
#define CPQ_H

#include <postgresql/libpq-fe.h>
#include <string.h>

// Notices are not printed, as libpq does by itself: a DETAIL shows keys. One is noted: a wait for the standby that somebody has cancelled,
// after which PostgreSQL reports a commit that this machine alone has. It has the code of a plain warning, and no other that it gives
// to these programs' statements has.
static inline void cpq_note_warning(void *has_warned, const PGresult *result) {
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state && !strcmp(state, "01000")) *(int *)has_warned = 1;
}

static inline void cpq_note_warnings(PGconn *connection, int *has_warned) {
    PQsetNoticeReceiver(connection, cpq_note_warning, has_warned);
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
