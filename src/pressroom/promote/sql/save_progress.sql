-- How much of a table is there, in the transaction that brought the last of it.
INSERT INTO pressroom_promotion_table VALUES (:name, :rows, :size, :digest)
    ON CONFLICT (name) DO UPDATE SET rows = excluded.rows, size = excluded.size, digest = excluded.digest
