-- `key` is the name of a file in the bucket or the folder, below its prefix. Files of before have none beside their hash.
DROP VIEW artifact_files;
CREATE VIEW artifact_files AS
SELECT packs_render.file_id AS id, packs_render.file_id AS artifact_id,
       coalesce(blob_alias.path,
                artifact.sha256 || CASE WHEN blob.generation > 0 THEN '-' || blob.generation ELSE '' END) AS key,
       artifact.media_type AS content_type, artifact.size AS size_bytes, artifact.sha256 AS etag
  FROM packs_render
  JOIN artifact ON artifact.uid = packs_render.artifact
  JOIN blob ON blob.sha256 = artifact.sha256
  LEFT JOIN blob_alias ON blob_alias.artifact = artifact.uid
 WHERE packs_render.outcome = 'ready';
