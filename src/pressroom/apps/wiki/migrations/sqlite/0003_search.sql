-- Search: the words of each article's newest revision, folded by the application so that both databases find the same.
CREATE TABLE wiki_text (
    article INTEGER PRIMARY KEY REFERENCES wiki_article ON DELETE CASCADE,
    title   TEXT NOT NULL,
    words   TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE wiki_index USING fts5 (
    title, words, content = 'wiki_text', content_rowid = 'article', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TRIGGER wiki_text_comes AFTER INSERT ON wiki_text
BEGIN
    INSERT INTO wiki_index (rowid, title, words) VALUES (NEW.article, NEW.title, NEW.words);
END;

CREATE TRIGGER wiki_text_goes AFTER DELETE ON wiki_text
BEGIN
    INSERT INTO wiki_index (wiki_index, rowid, title, words) VALUES ('delete', OLD.article, OLD.title, OLD.words);
END;

CREATE TRIGGER wiki_text_changes AFTER UPDATE ON wiki_text
BEGIN
    INSERT INTO wiki_index (wiki_index, rowid, title, words) VALUES ('delete', OLD.article, OLD.title, OLD.words);
    INSERT INTO wiki_index (rowid, title, words) VALUES (NEW.article, NEW.title, NEW.words);
END;
