#ifndef QUIRE_CSQLITE_CAPTURE_H
#define QUIRE_CSQLITE_CAPTURE_H
// The log of row changes of one transaction: written by the preupdate hook, cut back by the savepoint sensor.
//
// Both are called by SQLite in the middle of statements, for every row, so both are plain C on plain memory: no
// allocation per event, no locks, no Swift. What a table looks like is asked once from Swift (`find`); what the log
// means is decided in Swift (`Fold.swift`), and only when somebody asks.
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/// Where a column's value comes from in each of the three kinds of event. See `CapturedTable` in Swift for the rules.
typedef struct {
  int16_t old_index;      // for sqlite3_preupdate_old
  int16_t insert_index;   // for sqlite3_preupdate_new of an INSERT
  int16_t update_index;   // for sqlite3_preupdate_new of an UPDATE
  uint8_t is_row_id;      // the INTEGER PRIMARY KEY: its value is the event's key
  uint8_t is_real;        // REAL affinity: an integer inside is a real outside
  uint8_t has_default;    // an old NULL may be a row older than ADD COLUMN … DEFAULT: ask the table
} quire_column;

typedef struct {
  char *name;
  uint32_t id;
  uint8_t is_reported;
  uint8_t is_own;         // one of ours: its changes are nobody's
  uint8_t has_composite_key;
  uint8_t is_without_row_id;
  uint8_t selects_old;    // preupdate_old is not to be trusted here: old values always by `old_row`
  uint16_t key_count, column_count;
  quire_column *keys;     // key columns, where the key is composite
  quire_column *columns;  // columns somebody asked for
  sqlite3_stmt *old_row;  // SELECT keys…, columns… by row id or by keys; null when never needed
} quire_table;

/// One row event. `image` is where its bytes begin.
///
/// Bytes: for a composite key `u32 length, key` of the old row (not in an INSERT), then of the new row (not in a
/// DELETE; length QUIRE_SAME_KEY when it did not change); then the old values, then the new values, of the columns
/// asked for.
typedef struct {
  int64_t old_key, new_key;
  size_t image;
  uint32_t table;
  uint8_t op;             // SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE
  uint8_t is_indirect;    // by a trigger or a foreign key's action
  uint8_t is_blob_write;  // an update whose new values must be read from the table
  uint8_t unused;
} quire_event;

#define QUIRE_SAME_KEY UINT32_MAX
enum { QUIRE_NULL, QUIRE_INTEGER, QUIRE_REAL, QUIRE_TEXT, QUIRE_BLOB, QUIRE_SAME_AS_OLD, QUIRE_ROW_ID };

typedef struct { size_t count, used, indirect; } quire_mark;

typedef struct {
  quire_event *events;
  size_t count, capacity;
  uint8_t *bytes;
  size_t used, size;
  size_t indirect;         // how many events are indirect
  size_t own;              // how many changes to tables of ours there were, undone ones included
  quire_mark *marks;       // by savepoint number
  int mark_count, mark_capacity;
  int is_active;           // between BEGIN and COMMIT of a transaction of ours
  int is_ignoring;         // while a virtual table's module sets up its shadow tables
  size_t limit;            // how many bytes the log may have; 0 for as many as it takes
  int gave_up;             // it had more: it is empty now, and nothing more goes in
  int failure;             // a result code: the log is not whole, the transaction must not commit
  const char *failed_table;
  int rollbacks;           // how often the sensor saw a ROLLBACK TO
  quire_table *last;
  quire_table **known;     // looked up by name
  size_t known_count, known_capacity;
  quire_table *(*find)(void *context, const char *name);
  void *context;
} quire_capture;

/// Makes a capture, and installs the hook and the sensor's module.
///
/// The memory belongs to the connection, and is there until SQLite has closed it: a transaction that could not be rolled
/// back before ends with it, of which the sensor hears.
int quire_capture_install(sqlite3 *db, quire_capture **capture);
/// Takes the hook off; `find` is not called any longer.
void quire_capture_uninstall(quire_capture *capture, sqlite3 *db);
/// Empties the log for a new transaction; keeps its memory unless that has grown large.
void quire_capture_begin(quire_capture *capture);
/// Forgets what the tables look like: `find` is asked again.
void quire_capture_forget(quire_capture *capture);
#endif
