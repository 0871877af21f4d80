-- What SQLite itself finds wrong with the file; `ok` if nothing.
PRAGMA integrity_check
