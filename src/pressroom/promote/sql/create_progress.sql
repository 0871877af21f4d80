-- Which promotion this is, and how far it is. The tables stay where they are when it has ended: so it is known.
CREATE TABLE pressroom_promotion (
    uid        TEXT PRIMARY KEY,
    source     TEXT NOT NULL,
    date_begun TIMESTAMPTZ NOT NULL DEFAULT now(),
    date_ended TIMESTAMPTZ
);
CREATE TABLE pressroom_promotion_table (
    name   TEXT PRIMARY KEY,
    rows   BIGINT NOT NULL,
    size   BIGINT NOT NULL,
    digest TEXT   NOT NULL
)
