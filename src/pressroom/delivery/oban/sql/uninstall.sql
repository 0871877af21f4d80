DROP TRIGGER IF EXISTS oban_number ON pressroom.job;
DROP TRIGGER IF EXISTS oban_enlist_added ON pressroom.job;
DROP TRIGGER IF EXISTS oban_enlist_again ON pressroom.job;
DROP FUNCTION IF EXISTS pressroom.oban_number, pressroom.oban_enlist_added, pressroom.oban_enlist_again, pressroom.oban_enlist,
    pressroom.oban_queue;
