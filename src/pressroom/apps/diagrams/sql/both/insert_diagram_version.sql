INSERT INTO diagram_version (diagram, number, source, format, options, engine, status, date_created)
VALUES (:diagram, :number, :source, :format, :options, :engine, 'pending', :now)
