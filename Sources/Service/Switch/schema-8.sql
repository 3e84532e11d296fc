-- SPDX-License-Identifier: Apache-2.0
-- Version 8: customers' wishes for receipts by their keys, so that none is carried out twice. No address stands here.

create table receipt (
    merchant text not null,
    key text not null check (octet_length(key) between 1 and 128),
    -- The payment, or the operation of it, that the receipt is of.
    transaction uuid not null,
    -- Whether the program that sends receipts has said that it takes it; until then nobody knows.
    is_taken boolean not null default false,
    asked timestamptz not null default now(),
    primary key (merchant, key)
);
create index receipt_asked on receipt (asked);
update schema_version set version = 8;
