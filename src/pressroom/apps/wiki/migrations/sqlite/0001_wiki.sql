-- The wiki: articles, and every text that one ever had.

CREATE TABLE wiki_article (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    org_id       TEXT    NOT NULL DEFAULT '',
    url          TEXT    NOT NULL CHECK (url <> ''),
    title        TEXT    NOT NULL,
    head         INTEGER NOT NULL CHECK (head >= 1), -- its newest revision
    shown        INTEGER,                            -- the newest that has HTML; NULL until there is one
    date_created INTEGER NOT NULL,
    date_changed INTEGER NOT NULL,
    UNIQUE (org_id, url),
    CHECK (shown <= head)
) STRICT;

CREATE INDEX wiki_article_org ON wiki_article (org_id, id);

CREATE TABLE wiki_revision (
    article      INTEGER NOT NULL REFERENCES wiki_article ON DELETE CASCADE,
    number       INTEGER NOT NULL CHECK (number >= 1),
    title        TEXT    NOT NULL,
    comment      TEXT    NOT NULL,
    author       TEXT    NOT NULL,
    length       INTEGER NOT NULL,                           -- characters of the source
    hash         TEXT    NOT NULL CHECK (length(hash) = 96), -- SHA-384 of the source
    error        TEXT    CHECK (error IS NULL OR json_valid(error)),
    renderer     TEXT,                                       -- what made the HTML, with its versions
    job_uid      TEXT,
    date_created INTEGER NOT NULL,
    date_rendered INTEGER,
    PRIMARY KEY (article, number)
) STRICT, WITHOUT ROWID;

-- The long texts lie apart: what is done to a revision must not cost as much as to write it anew.
CREATE TABLE wiki_source (
    article INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    source  TEXT   NOT NULL,
    PRIMARY KEY (article, number),
    FOREIGN KEY (article, number) REFERENCES wiki_revision ON DELETE CASCADE
) STRICT;

-- The HTML of those that were ever rendered.
CREATE TABLE wiki_html (
    article  INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    html     TEXT   NOT NULL,
    headings TEXT   NOT NULL CHECK (json_valid(headings)),
    PRIMARY KEY (article, number),
    FOREIGN KEY (article, number) REFERENCES wiki_revision ON DELETE CASCADE
) STRICT;

-- What a revision says is said for ever.
CREATE TRIGGER wiki_revision_stays BEFORE UPDATE OF article, number, title, comment, author, length, hash, date_created ON wiki_revision
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the text of a revision never changes');
END;

CREATE TRIGGER wiki_source_stays BEFORE UPDATE ON wiki_source
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the text of a revision never changes');
END;

-- Which articles refer to which, by the newest revision that was rendered. What is referred to may not be there yet.
CREATE TABLE wiki_link (
    article INTEGER NOT NULL REFERENCES wiki_article ON DELETE CASCADE,
    url     TEXT    NOT NULL,
    PRIMARY KEY (article, url)
) STRICT, WITHOUT ROWID;
CREATE INDEX wiki_link_url ON wiki_link (url);
