INSERT INTO kind (name, settling, uses_delivery, alert_since)
VALUES (:name, :settling, :uses_delivery, CASE WHEN :alert = 1 THEN :now END)
    ON CONFLICT (name) DO UPDATE
   SET settling = excluded.settling,
       uses_delivery = excluded.uses_delivery,
       alert_since = CASE WHEN :alert = 1 THEN coalesce(kind.alert_since, :now) END
 WHERE kind.settling <> excluded.settling OR kind.uses_delivery <> excluded.uses_delivery
    OR (kind.alert_since IS NULL) = (:alert = 1)
