-- Several processes: who does the chores that need doing once, what an operator wants to know of a worker, and how many
-- jobs of a kind may be in progress at once in all of them together.

-- Who leads, until when by the database's clock. `term` only grows: each change of leader, and each return of one whose
-- lease had run out, is another term. `process` lets a neighbour on the same machine see that the leader died.
CREATE TABLE leader (
    name    TEXT PRIMARY KEY,
    worker  TEXT    NOT NULL,
    process TEXT    NOT NULL,
    term    INTEGER NOT NULL CHECK (term > 0),
    until   INTEGER NOT NULL
) STRICT;

CREATE TRIGGER leader_term_only_grows BEFORE UPDATE OF term ON leader WHEN NEW.term < OLD.term
BEGIN
    SELECT RAISE(ABORT, 'a term only grows');
END;

ALTER TABLE worker ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN pid INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN delivery TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN stopping INTEGER NOT NULL DEFAULT 0 CHECK (stopping IN (0, 1));
-- Milliseconds. One that was not seen for this long is silent: its jobs are anybody's.
ALTER TABLE worker ADD COLUMN lease INTEGER NOT NULL DEFAULT 15000;

ALTER TABLE kind ADD COLUMN slots INTEGER CHECK (slots > 0);
