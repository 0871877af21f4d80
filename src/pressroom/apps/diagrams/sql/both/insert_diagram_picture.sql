-- The first one stays: a number shows the same picture for ever.
INSERT INTO diagram_picture (diagram, number, output, theme, artifact, date_created)
SELECT diagram, number, :output, :theme, :artifact, :now FROM diagram_version WHERE diagram = :diagram AND number = :number
    ON CONFLICT DO NOTHING
RETURNING artifact
