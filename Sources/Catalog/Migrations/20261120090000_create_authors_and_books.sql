-- create authors and books

CREATE TABLE author (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE book (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  year INTEGER,
  rating REAL NOT NULL,
  isbn TEXT,
  language TEXT,
  is_available INTEGER NOT NULL CHECK (is_available IN (0, 1)),
  author_id INTEGER REFERENCES author(id) ON DELETE CASCADE
) STRICT;

CREATE INDEX book_author_id ON book(author_id);

-- migrate: undo
DROP TABLE book;
DROP TABLE author;
