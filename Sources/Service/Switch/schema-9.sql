-- SPDX-License-Identifier: Apache-2.0
-- Version 9: finds what was taken back without an approval and may be approved after all.

create index exchange_unheard on exchange (changed) where stage = 'reversed' and sealed is not null;
update schema_version set version = 9;
