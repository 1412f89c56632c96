-- give every book its search key
ALTER TABLE book ADD COLUMN search_key TEXT;
-- migrate: step FillSearchKeys
CREATE INDEX book_search_key ON book(search_key);

-- migrate: undo
DROP INDEX book_search_key;
ALTER TABLE book DROP COLUMN search_key;
