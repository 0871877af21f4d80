DELETE FROM blob
 WHERE sha256 IN (SELECT sha256 FROM blob AS old WHERE old.state = 'deleted' AND old.state_since <= :before
                   ORDER BY old.state_since LIMIT :limit)
RETURNING generation
