UPDATE docs_history SET publish_status = :status, error = :error WHERE edition = :edition AND seq = :seq
