-- add libraries and their holdings
-- One row of library_books says that the library has the book.

CREATE TABLE library (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL,
  region TEXT NOT NULL
) STRICT;

CREATE TABLE library_books (
  library_id INTEGER NOT NULL REFERENCES library(id) ON DELETE CASCADE,
  book_id INTEGER NOT NULL REFERENCES book(id) ON DELETE CASCADE,
  PRIMARY KEY (library_id, book_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX library_books_book_id ON library_books(book_id);

-- migrate: undo
DROP TABLE library_books;
DROP TABLE library;
