-- index books by title
-- Lists are ordered by it.

CREATE INDEX book_title ON book(title);

-- migrate: undo
DROP INDEX book_title;
