INSERT INTO kind (name, settling) VALUES (:name, :settling)
    ON CONFLICT (name) DO UPDATE SET settling = excluded.settling WHERE kind.settling <> excluded.settling
