INSERT INTO kind (name, settling, uses_delivery) VALUES (:name, :settling, :uses_delivery)
    ON CONFLICT (name) DO UPDATE SET settling = excluded.settling, uses_delivery = excluded.uses_delivery
     WHERE kind.settling <> excluded.settling OR kind.uses_delivery <> excluded.uses_delivery
