-- SPDX-License-Identifier: Apache-2.0
-- Version 3: open exchanges in the order in which they began. By their owner none of the questions for work could use them, and each read
-- everything that had ever been exchanged.

drop index exchange_open;
create index exchange_open on exchange (created)
    where stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null;
update schema_version set version = 3;
