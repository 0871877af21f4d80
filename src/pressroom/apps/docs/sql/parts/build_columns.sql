docs_build.uid, docs_build.project, docs_build.number, docs_build.git_ref, docs_build.alternate_name, docs_build.content_hash,
       docs_build.status, docs_build.uploader, docs_build.annotations, docs_build.artifact, docs_build.object_count, docs_build.total_size,
       docs_build.broken_links, docs_build.error, docs_build.job_uid, docs_build.date_created, docs_build.date_uploaded,
       docs_build.date_completed, docs_build.date_deleted
