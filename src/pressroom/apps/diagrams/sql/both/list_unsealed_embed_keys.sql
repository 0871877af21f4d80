SELECT id, link FROM diagram WHERE sealed_link IS NULL
