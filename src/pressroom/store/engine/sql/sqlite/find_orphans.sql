-- Rows that refer to others which are gone.
PRAGMA foreign_key_check
