INSERT INTO docs_build (uid, project, git_ref, alternate_name, content_hash, upload_digest, uploader, annotations, date_created)
VALUES (:uid, :project, :git_ref, :alternate_name, :content_hash, :upload_digest, :uploader, :annotations, :now)
