-- SPDX-License-Identifier: Apache-2.0
-- Version 1. Card numbers stand nowhere in the clear: `sealed` is readable with the key of the switch alone.

create table merchant (
    id text primary key,
    -- Field 42.
    acceptor text not null check (octet_length(acceptor) between 1 and 15),
    -- Field 43, made up to 40 characters; left out where empty.
    location text not null default '' check (octet_length(location) <= 40),
    -- Field 18; left out where empty.
    category text not null default '' check (category ~ '^([0-9]{4})?$')
);

-- A terminal as a till names it, and as the acquirer does: field 41.
create table terminal (
    merchant text not null references merchant,
    id text not null,
    acceptor_terminal text not null check (octet_length(acceptor_terminal) between 1 and 8),
    primary key (merchant, id)
);

-- A till by the common name of its certificate.
create table till (
    name text primary key,
    merchant text not null references merchant,
    blocked boolean not null default false
);

-- Who may speak to the acquirer: a switch that runs holds one seat, and with it a share of the trace numbers. An owner is a number
-- that is given once, so that one who comes back late owns nothing.
create sequence owner;
create table seat (
    seat int primary key check (seat between 0 and 9),
    owner bigint not null,
    lease_until timestamptz not null,
    -- Trace numbers below this one, within the seat's share, may have been used.
    trace int not null
);
insert into seat select n, 0, '-infinity', 0 from generate_series(0, 9) n;

create table payment (
    id uuid primary key,
    merchant text not null,
    terminal text,
    -- SHA-256 of the request; null where a reversal came first.
    body bytea check (octet_length(body) = 32),
    kind text check (kind in ('sale', 'preauth', 'refund')),
    offline boolean not null default false,
    amount bigint not null default 0 check (amount >= 0),
    currency text,
    scheme text,
    last4 text check (octet_length(last4) = 4),
    token text,
    -- The card record's own id: a read pays once.
    record text,
    state text not null check (state in ('void', 'running', 'declined', 'approved', 'reversing', 'reversed')),
    -- Why it is taken back, or is to be as soon as it is decided.
    reason text,
    answer text,
    approval text,
    authorised bigint not null default 0,
    captured bigint not null default 0,
    released bigint not null default 0,
    refunded bigint not null default 0,
    hold_until timestamptz,
    created timestamptz not null default now(),
    decided timestamptz,
    unique (merchant, record),
    check (captured >= 0 and released >= 0 and captured + released <= authorised),
    check (refunded >= 0 and (refunded <= captured or kind = 'refund')),
    check ((answer is null) = (state in ('void', 'running')))
);
create index payment_created on payment (created);

create table operation (
    id uuid primary key,
    payment uuid not null references payment on delete cascade,
    kind text not null check (kind in ('capture', 'release', 'refund')),
    body bytea not null check (octet_length(body) = 32),
    amount bigint not null,
    -- What a final capture gives up.
    rest bigint not null default 0,
    state text not null check (state in ('running', 'declined', 'approved', 'reversing', 'reversed')),
    reason text,
    answer text,
    created timestamptz not null default now(),
    decided timestamptz,
    check ((answer is null) = (state = 'running'))
);
create index operation_payment on operation (payment);

-- One message to the acquirer and what has become of it.
create table exchange (
    -- Of the payment, the operation or the day end that it is about.
    id uuid primary key,
    payment uuid references payment on delete cascade,
    kind text not null check (kind in ('payment', 'advice', 'capture', 'release', 'refund', 'day')),
    -- Who speaks of it with the acquirer; null for whoever takes it.
    owner bigint,
    stage text not null
        check (stage in ('awaiting', 'answered', 'reversing', 'reversed', 'advising', 'advised', 'reconciling', 'reconciled')),
    detail text not null default '',
    -- A reversal that nobody has begun yet.
    wanted text,
    attempts int not null default 0,
    given_up boolean not null default false,
    type text not null,
    trace text not null,
    reference text,
    transmitted text,
    -- The messages, with card number and expiry date; of an advice all of it until it is acknowledged.
    sealed bytea,
    created timestamptz not null default now(),
    changed timestamptz not null default now(),
    unique (trace, transmitted, type)
);
create index exchange_open on exchange (owner)
    where stage in ('awaiting', 'reversing', 'advising', 'reconciling') or wanted is not null;

create table day (
    day date primary key,
    closed timestamptz
);
insert into day values (current_date, null);

-- Every sum, in minor units: what the card's holder gave or got, what is held, what is the shop's. The entries of one booking add up
-- to nothing. Rows are added and never altered.
create table entry (
    payment uuid not null references payment on delete cascade,
    seq int not null,
    account text not null check (account in ('card', 'hold', 'shop')),
    amount bigint not null check (amount <> 0),
    currency text not null,
    -- It takes back what another booking did.
    is_reversal boolean not null,
    day date not null references day,
    booked timestamptz not null default now(),
    primary key (payment, seq, account)
);
create index entry_day on entry (day);

create function entries_add_up() returns trigger language plpgsql as $$
begin
    if (select sum(amount) from entry where payment = new.payment and seq = new.seq) <> 0 then
        raise exception 'entries do not add up to nothing' using errcode = '23514';
    end if;
    return null;
end $$;
create constraint trigger entries_add_up after insert on entry deferrable initially deferred
    for each row execute function entries_add_up();

create function entries_stay() returns trigger language plpgsql as $$
begin
    raise exception 'entries are never altered' using errcode = '23514';
end $$;
create trigger entries_stay before update on entry for each row execute function entries_stay();

-- What an acquirer said of a day: one row for each currency.
create table day_end (
    id uuid primary key,
    day date not null references day,
    currency text not null,
    -- Fields 74 to 77, 86 to 89 and 97: credits, their reversals, debits, their reversals.
    credits int not null,
    credit_reversals int not null,
    debits int not null,
    debit_reversals int not null,
    credit_amount bigint not null,
    credit_reversal_amount bigint not null,
    debit_amount bigint not null,
    debit_reversal_amount bigint not null,
    balance text,
    created timestamptz not null default now(),
    unique (day, currency)
);
create index day_end_open on day_end (day) where balance is null;

create table schema_version (version int not null);
insert into schema_version values (1);
