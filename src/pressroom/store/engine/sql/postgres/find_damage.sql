-- PostgreSQL looks after its own files.
SELECT 'ok'
