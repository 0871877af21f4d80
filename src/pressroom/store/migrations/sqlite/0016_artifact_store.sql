-- Which artifact store has the bytes of this database: the id that is written in that store, and where it was, for people.
CREATE TABLE artifact_store (
    only          INTEGER PRIMARY KEY CHECK (only = 1),
    id            TEXT    NOT NULL CHECK (length(id) = 26),
    location      TEXT    NOT NULL,
    date_recorded INTEGER NOT NULL
) STRICT;
