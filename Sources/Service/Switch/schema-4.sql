-- SPDX-License-Identifier: Apache-2.0
-- Version 4: what a merchant may do, and refunds of which nobody knows yet whether the host has booked them.

-- Kinds of payments, with a blank between them: sale preauth refund offline. Null for all of them. A refund is one without its payment, to a card
-- that is read. Sums are minor units of one currency; where one is set, payments in others are refused.
alter table merchant
    add column kinds text check (kinds ~ '^(sale|preauth|refund|offline)( (sale|preauth|refund|offline))*$'),
    add column limit_currency text check (limit_currency ~ '^[A-Z]{3}$'),
    -- Of one payment; of one that a card has approved by itself; of all refunds without their payment in twenty-four hours.
    add column most bigint check (most >= 0),
    add column most_offline bigint check (most_offline >= 0),
    add column most_refunded bigint check (most_refunded >= 0),
    add check (limit_currency is not null or (most is null and most_offline is null and most_refunded is null));
create index payment_refund on payment (merchant, created) where kind = 'refund';

-- Whether its sum was given back to the payment's figures. A refund that is being taken back holds its sum until the host has said that it has it no
-- more.
alter table operation add column is_undone boolean not null default false;
update operation set is_undone = true where state in ('declined', 'reversing', 'reversed');
update schema_version set version = 4;
