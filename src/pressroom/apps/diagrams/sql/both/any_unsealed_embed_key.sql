SELECT 1 FROM diagram WHERE sealed_link IS NULL LIMIT 1
