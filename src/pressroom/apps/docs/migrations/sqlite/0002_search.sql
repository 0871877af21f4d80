-- Search: the words of the pages of each build that an edition shows, folded by the application so that both databases find the same.

CREATE TABLE docs_search (
    build        TEXT    PRIMARY KEY REFERENCES docs_build (uid) ON DELETE CASCADE,
    state        TEXT    NOT NULL CHECK (state IN ('indexing', 'complete', 'leaving')),
    attempt      TEXT    NOT NULL,                    -- the one that writes its pages now
    date_changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE docs_page_text (
    id      INTEGER PRIMARY KEY,
    build   TEXT    NOT NULL REFERENCES docs_search (build) ON DELETE CASCADE,
    path    TEXT    NOT NULL,
    heading TEXT    NOT NULL,                         -- as people see it
    excerpt TEXT    NOT NULL,                         -- the beginning of its text, as people see it
    title   TEXT    NOT NULL,                         -- the words of the heading
    words   TEXT    NOT NULL,
    UNIQUE (build, path)
) STRICT;

CREATE VIRTUAL TABLE docs_page_index USING fts5 (
    build, title, words, content = 'docs_page_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TRIGGER docs_page_text_comes AFTER INSERT ON docs_page_text
BEGIN
    INSERT INTO docs_page_index (rowid, build, title, words) VALUES (NEW.id, NEW.build, NEW.title, NEW.words);
END;

CREATE TRIGGER docs_page_text_goes AFTER DELETE ON docs_page_text
BEGIN
    INSERT INTO docs_page_index (docs_page_index, rowid, build, title, words)
    VALUES ('delete', OLD.id, OLD.build, OLD.title, OLD.words);
END;

CREATE TRIGGER docs_page_text_stays BEFORE UPDATE ON docs_page_text
BEGIN
    SELECT RAISE(ABORT, 'illegal move: the text of a page never changes');
END;
