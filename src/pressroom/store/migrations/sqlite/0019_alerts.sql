-- Alerts: jobs that failed for good, of kinds that say so. They are open until a person acknowledges them.

-- Since when the final failures of this kind raise alerts; NULL if they do not.
ALTER TABLE kind ADD COLUMN alert_since INTEGER;

-- Failures that agree in organisation, kind, subject and code are one alert for as long as it is open. The message and the job
-- are those of the latest. `notified_at` is when webhooks were last sent it.
CREATE TABLE alert (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    org_id      TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    count       INTEGER NOT NULL CHECK (count > 0),
    job_uid     TEXT    NOT NULL,
    job_id      INTEGER NOT NULL,
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    notified_at INTEGER NOT NULL,
    acked_by    TEXT,
    acked_at    INTEGER,

    CHECK ((acked_by IS NULL) = (acked_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX alert_open ON alert (org_id, kind, subject, code) WHERE acked_at IS NULL;
CREATE INDEX alert_same ON alert (org_id, kind, subject, code);
CREATE INDEX alert_acked ON alert (acked_at) WHERE acked_at IS NOT NULL;

-- The webhooks of its organisation, and the one that the setting `alert_webhook_url` declares for all of them (org_id '*').
-- A failed delivery raises no alert that would itself be delivered.
CREATE TRIGGER alert_is_raised AFTER INSERT ON alert
WHEN NEW.acked_at IS NULL AND NEW.kind <> 'webhook'
BEGIN
    INSERT INTO webhook_delivery (webhook, type, facts, date_created)
    SELECT webhook.uid, 'alert.raised',
           json_object('id', NEW.job_uid, 'alert', NEW.id, 'org_id', NEW.org_id, 'kind', NEW.kind, 'subject', NEW.subject,
                       'code', NEW.code, 'message', NEW.message, 'count', NEW.count, 'first', NEW.first_at, 'last', NEW.last_at),
           NEW.last_at
      FROM webhook
     WHERE webhook.org_id IN (NEW.org_id, '*') AND webhook.disabled_because IS NULL
       AND EXISTS (SELECT 1 FROM json_each(webhook.events) WHERE value = 'alert.raised')
       AND (webhook.kinds IS NULL OR EXISTS (SELECT 1 FROM json_each(webhook.kinds) WHERE value = NEW.kind));
END;

CREATE TRIGGER alert_is_repeated AFTER UPDATE OF notified_at ON alert
WHEN NEW.notified_at <> OLD.notified_at AND NEW.acked_at IS NULL AND NEW.kind <> 'webhook'
BEGIN
    INSERT INTO webhook_delivery (webhook, type, facts, date_created)
    SELECT webhook.uid, 'alert.raised',
           json_object('id', NEW.job_uid, 'alert', NEW.id, 'org_id', NEW.org_id, 'kind', NEW.kind, 'subject', NEW.subject,
                       'code', NEW.code, 'message', NEW.message, 'count', NEW.count, 'first', NEW.first_at, 'last', NEW.last_at),
           NEW.last_at
      FROM webhook
     WHERE webhook.org_id IN (NEW.org_id, '*') AND webhook.disabled_because IS NULL
       AND EXISTS (SELECT 1 FROM json_each(webhook.events) WHERE value = 'alert.raised')
       AND (webhook.kinds IS NULL OR EXISTS (SELECT 1 FROM json_each(webhook.kinds) WHERE value = NEW.kind));
END;
