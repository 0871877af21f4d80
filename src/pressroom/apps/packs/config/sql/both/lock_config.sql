-- Two versions of one key are not numbered or published at the same time: the second waits for this row.
INSERT INTO packs_config_key (org_id, key) VALUES (:org_id, :key) ON CONFLICT (org_id, key) DO UPDATE SET key = excluded.key
