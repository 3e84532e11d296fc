-- SPDX-License-Identifier: Apache-2.0
-- Version 2: when a till was heard of, to a minute, and what it said of its program.

alter table till add column seen timestamptz, add column version text check (octet_length(version) <= 64);
update schema_version set version = 2;
