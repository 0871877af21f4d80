-- A line is taken in once: the primary key refuses a second time.
INSERT INTO packs_batch_line (batch, number, pack, error) VALUES (:batch, :number, :pack, :error)
