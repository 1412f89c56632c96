-- create the desk
CREATE TABLE author (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE book (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL,
  copies INTEGER NOT NULL,
  stock INTEGER NOT NULL,
  author_id INTEGER REFERENCES author(id) ON DELETE CASCADE
) STRICT;

CREATE TABLE member (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE loan (
  id INTEGER PRIMARY KEY,
  lent_at TEXT NOT NULL,
  due_at TEXT NOT NULL,
  returned_at TEXT,
  is_overdue INTEGER NOT NULL CHECK (is_overdue IN (0, 1)),
  book_id INTEGER REFERENCES book(id) ON DELETE CASCADE,
  member_id INTEGER REFERENCES member(id) ON DELETE CASCADE
) STRICT;

CREATE INDEX book_author_id ON book(author_id);
CREATE INDEX loan_book_id ON loan(book_id);
CREATE INDEX loan_member_id ON loan(member_id);

-- migrate: undo
DROP TABLE loan;
DROP TABLE member;
DROP TABLE book;
DROP TABLE author;
