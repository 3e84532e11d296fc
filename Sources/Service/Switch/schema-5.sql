-- SPDX-License-Identifier: Apache-2.0
-- Version 5: the host's own day, cryptograms that pay once, and books that were restored.

-- Field 15 of the answer, MMDD: the day to which the host counts the payment.
alter table exchange add column settlement text check (settlement ~ '^[0-9]{4}$');
-- When the host said that its next day begins while this one was open, and field 15 of that message.
alter table day add column cut_over timestamptz, add column settlement text check (settlement ~ '^[0-9]{4}$');

-- SHA-256 of the card's counter and cryptogram (9F36, 9F26), for thirty-five days: of one card a certificate pays once, whatever envelope it comes in.
alter table payment add column cryptogram bytea check (octet_length(cryptogram) = 32);
create unique index payment_cryptogram on payment (token, cryptogram) where cryptogram is not null;

-- Counted up by a person who has held books that were restored against the acquirer's list.
create table generation (number bigint not null);
insert into generation values (1);
update schema_version set version = 5;
