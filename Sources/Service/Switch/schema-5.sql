-- SPDX-License-Identifier: Apache-2.0
-- Version 5: the host's own day.

-- Field 15 of the answer, MMDD: the day to which the host counts the payment.
alter table exchange add column settlement text check (settlement ~ '^[0-9]{4}$');
-- When the host said that its next day begins while this one was open, and field 15 of that message.
alter table day add column cut_over timestamptz, add column settlement text check (settlement ~ '^[0-9]{4}$');
update schema_version set version = 5;
