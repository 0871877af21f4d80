-- Embed keys of named diagrams are kept as a hash in `link`, and encrypted here; NULL as long as `link` is the key itself.
ALTER TABLE diagram ADD COLUMN sealed_link TEXT;
CREATE INDEX diagram_unsealed ON diagram (id) WHERE sealed_link IS NULL;
