-- What a diagram held for versions that are gone.
DELETE FROM artifact_hold
 WHERE holder = :holder
   AND NOT EXISTS (SELECT 1
                     FROM diagram_picture
                    WHERE diagram_picture.artifact = artifact_hold.artifact AND diagram_picture.diagram = :diagram)
RETURNING artifact
