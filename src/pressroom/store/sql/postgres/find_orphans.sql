-- PostgreSQL lets nobody turn foreign keys off.
SELECT NULL, NULL, NULL, NULL WHERE false
