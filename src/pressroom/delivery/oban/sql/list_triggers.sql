-- Those of our triggers that are there and enabled.
SELECT tgname
  FROM pg_trigger
 WHERE tgrelid = to_regclass('pressroom.job') AND tgenabled <> 'D'
   AND tgname IN ('oban_number', 'oban_enlist_added', 'oban_enlist_again')
