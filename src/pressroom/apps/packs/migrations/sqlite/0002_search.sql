-- Search: the words of each pack's title, user, session and newest data, folded by the application so that both databases find the same.
CREATE TABLE packs_text (
    id    INTEGER PRIMARY KEY,
    pack  TEXT NOT NULL UNIQUE REFERENCES packs_pack ON DELETE CASCADE,
    title TEXT NOT NULL,
    words TEXT NOT NULL
) STRICT;

CREATE VIRTUAL TABLE packs_index USING fts5 (
    title, words, content = 'packs_text', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0'
);

CREATE TRIGGER packs_text_comes AFTER INSERT ON packs_text
BEGIN
    INSERT INTO packs_index (rowid, title, words) VALUES (NEW.id, NEW.title, NEW.words);
END;

CREATE TRIGGER packs_text_goes AFTER DELETE ON packs_text
BEGIN
    INSERT INTO packs_index (packs_index, rowid, title, words) VALUES ('delete', OLD.id, OLD.title, OLD.words);
END;

CREATE TRIGGER packs_text_changes AFTER UPDATE ON packs_text
BEGIN
    INSERT INTO packs_index (packs_index, rowid, title, words) VALUES ('delete', OLD.id, OLD.title, OLD.words);
    INSERT INTO packs_index (rowid, title, words) VALUES (NEW.id, NEW.title, NEW.words);
END;
