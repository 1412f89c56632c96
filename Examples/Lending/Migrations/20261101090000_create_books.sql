-- create books
CREATE TABLE book (
  id INTEGER PRIMARY KEY,
  title TEXT NOT NULL
) STRICT;
INSERT INTO book (title) VALUES ('Solaris'), ('Éden');

-- migrate: undo
DROP TABLE book;
