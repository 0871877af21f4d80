-- Also deleted ones: outside they may still be shown.
SELECT id FROM docs_edition WHERE project = :project AND published_seq < publish_seq ORDER BY id
