#ifndef QUIRE_CSQLITE_H
#define QUIRE_CSQLITE_H
// The preupdate functions are in Debian's library; its header shows them only to who asks.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>
#include "CSQLiteCapture.h"

// What Swift cannot call (variadics) or cannot see (casts in macros).

/// `sqlite3_db_config` for the settings that are a switch; returns the result code.
int quire_db_config(sqlite3 *db, int option, int on);

/// A number as SQLite makes text of it, with 15 digits.
void quire_real_text(double value, char text[32]);
/// The pager's data version: changes with every commit, our own or another connection's, and costs no statement.
unsigned quire_data_version(sqlite3 *db);
/// The memory all processes share that have the file open in WAL mode, or null; there as long as `db` is open.
/// Its first bytes are the header of <https://sqlite.org/walformat.html#the_wal_index_file_format>.
const volatile void *quire_wal_index(sqlite3 *db);
/// The header's count of commits, of whatever process; 0 is returned in the middle of its being written.
int quire_wal_commit_count(const volatile void *index, uint32_t *count);
/// Whether all frames of the log are in the database: the log starts over with the next write before which no reader reads it.
int quire_wal_is_copied(const volatile void *index);
/// How many frames the log has, of whatever process. A hint, as above.
uint32_t quire_wal_frames(const volatile void *index);
/// Whether another program has truncated the log's file: it is shorter than its index says. Commits in it are lost, and a
/// checkpoint would damage the database. For a connection in WAL mode.
int quire_wal_is_cut(sqlite3 *db);
/// The file's own count, in its header, as it is on the disk: of a file without a write-ahead log. Right while a transaction
/// is open, whose own commit will be the next one; 0 is returned where it cannot be read.
int quire_header_commit_count(sqlite3 *db, uint32_t *count);
/// Reads the bytes of the file itself, whatever they hold: as many as are there from `offset` on, up to `length`; -1 where
/// they cannot be read. Opens no file, because closing one would release this process's locks on it.
long quire_read_file(sqlite3 *db, int64_t offset, void *bytes, int length);

/// How many processes, one the child of the other by `fork`, are between the one that was started as a program and this one.
int quire_forks(void);
/// Counts a connection to a file; 0 is returned if there is no memory for that.
int quire_file_opened(uint64_t device, uint64_t inode);
/// Takes one connection back.
void quire_file_closed(uint64_t device, uint64_t inode);
/// Whether the process of which this one was forked had connections to the file then.
int quire_file_is_inherited(uint64_t device, uint64_t inode);

/// Adds functions of our own. Not for views and triggers: a file must make sense to every other tool.
///
/// The aggregates `quire_sum(x)`, 0 without values, and `quire_average(x)`, NULL without values, are exact and rounded once.
/// They skip NULL. If no number can hold the result, it is a text that says why. For decimals, which are kept as text, there
/// are `quire_decimal_sum(x)`, whose result is text, and `quire_decimal_average(x)`.
///
/// For decimals as text, to which anything else is NULL: `quire_decimal_order(x)`, a blob in whose order the numbers are, and
/// the aggregates `quire_decimal_min(x)` and `quire_decimal_max(x)`.
int quire_functions_install(sqlite3 *db);

/// Whether what is at the path is mounted there by itself; 0 where the system does not say so.
int quire_is_mounted(const char *path);

/// Why no file can be made in the folder though there may be room for bytes: ENOSPC or EDQUOT; 0 if nothing prevents it, and
/// where the system cannot make a file without a name, which this tries.
int quire_new_file_error(const char *folder);

/// Gives a file a name that no file has: -1 with `errno` EEXIST where one has.
int quire_rename_new(const char *old_path, const char *new_path);

/// Binds `length` bytes as TEXT, copied; an empty string may come with a null pointer and is not NULL.
static inline int quire_bind_text(sqlite3_stmt *s, int index, const char *text, long length) {
  return sqlite3_bind_text64(s, index, text ? text : "", (sqlite3_uint64)length, SQLITE_TRANSIENT, SQLITE_UTF8);
}
/// Binds `length` bytes as BLOB, copied; an empty blob may come with a null pointer and is not NULL.
static inline int quire_bind_blob(sqlite3_stmt *s, int index, const void *bytes, long length) {
  if (length == 0) return sqlite3_bind_zeroblob(s, index, 0);
  return sqlite3_bind_blob64(s, index, bytes, (sqlite3_uint64)length, SQLITE_TRANSIENT);
}
#endif
