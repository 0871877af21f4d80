DELETE FROM web_session WHERE digest = :digest
