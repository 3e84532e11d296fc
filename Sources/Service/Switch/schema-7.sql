-- SPDX-License-Identifier: Apache-2.0
-- Version 7: the sums of a day by terminal and by scheme, where the acquirer wants them so.

alter table day_end add column merchant text;
alter table day_end add column terminal text;
alter table day_end add column scheme text;
alter table day_end drop constraint day_end_day_currency_key;
create unique index day_end_once on day_end (day, currency, coalesce(merchant, ''), coalesce(terminal, ''), coalesce(scheme, ''));
-- With the names that the acquirer has for whom they are of.
create view day_total as
    select d.*, t.acceptor_terminal, m.acceptor from day_end d
    left join terminal t on t.merchant = d.merchant and t.id = d.terminal
    left join merchant m on m.id = d.merchant;
update schema_version set version = 7;
