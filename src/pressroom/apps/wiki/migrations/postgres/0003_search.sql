-- Search: the words of each article's newest revision, folded by the application so that both databases find the same.
CREATE TABLE wiki_text (
    article     BIGINT PRIMARY KEY REFERENCES wiki_article ON DELETE CASCADE,
    title       TEXT NOT NULL,
    words       TEXT NOT NULL,
    title_index tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.simple', title)) STORED,
    index       tsvector GENERATED ALWAYS AS (
        setweight(to_tsvector('pg_catalog.simple', title), 'A') || to_tsvector('pg_catalog.simple', words)
    ) STORED
);
CREATE INDEX wiki_text_title_index ON wiki_text USING gin (title_index);
CREATE INDEX wiki_text_index ON wiki_text USING gin (index);
