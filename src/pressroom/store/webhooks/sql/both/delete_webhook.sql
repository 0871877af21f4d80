-- Its secrets and deliveries go with it. A job that would deliver to it finds nothing and is cancelled.
DELETE FROM webhook WHERE uid = :uid
