-- add coauthors
-- The first-named author stays in book.author_id; all the others are here.

CREATE TABLE book_coauthors (
  book_id INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE,
  author_id INTEGER NOT NULL REFERENCES author(id) ON DELETE CASCADE,
  PRIMARY KEY (book_id, author_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX book_coauthors_author_id ON book_coauthors(author_id);

-- migrate: undo
DROP TABLE book_coauthors;
