-- SPDX-License-Identifier: Apache-2.0
-- Version 6: what is at an end and was contradicted by the host after it is an open item, too; and what one replica knows of restored books, all do.

drop index exchange_open;
create index exchange_open on exchange (created)
    where stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null or given_up;

-- A replica was told of payments that these books lack. Ended with the generation.
alter table generation add column is_behind boolean not null default false;
update schema_version set version = 6;
