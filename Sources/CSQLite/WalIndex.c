#include "CSQLite.h"
#include <string.h>

const volatile void *quire_wal_index(sqlite3 *db) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return 0;
  if (!file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  volatile void *page = 0;
  return file->pMethods->xShmMap(file, 0, 32768, 0, &page) == SQLITE_OK ? page : 0;
}

int quire_wal_commit_count(const volatile void *index, uint32_t *count) {
  // Two copies of twelve words each; the commit counter is the third, “is initialized” in the fourth. A writer changes
  // the second copy first, a reader looks at the first one first: equal copies are one moment's.
  const volatile uint32_t *words = index;
  uint32_t first[12], second[12];
  for (int i = 0; i < 12; i++) first[i] = __atomic_load_n(words + i, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  for (int i = 0; i < 12; i++) second[i] = __atomic_load_n(words + 12 + i, __ATOMIC_RELAXED);
  if (first[3] == 0 || memcmp(first, second, sizeof first) != 0) return 0;
  *count = first[2];
  return 1;
}

int quire_wal_is_copied(const volatile void *index) {
  // The log's length is the fifth word of the header; the number of frames copied follows the second copy. Only a hint:
  // a writer may be about to change both.
  const volatile uint32_t *words = index;
  uint32_t frames = __atomic_load_n(words + 4, __ATOMIC_RELAXED);
  return frames > 0 && __atomic_load_n(words + 24, __ATOMIC_RELAXED) == frames;
}

uint32_t quire_wal_frames(const volatile void *index) {
  return __atomic_load_n((const volatile uint32_t *)index + 4, __ATOMIC_RELAXED);
}

int quire_wal_is_cut(sqlite3 *db) {
  sqlite3_file *log = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK) return 0;
  if (!log || !log->pMethods) return 0;
  const volatile uint32_t *words = quire_wal_index(db);
  if (!words) return 0;
  // The header's third word counts commits, the upper half of the fourth is the page size, the fifth the number of frames.
  uint32_t commits = __atomic_load_n(words + 2, __ATOMIC_SEQ_CST);
  uint32_t form = __atomic_load_n(words + 3, __ATOMIC_SEQ_CST);
  uint32_t frames = __atomic_load_n(words + 4, __ATOMIC_SEQ_CST);
  uint32_t page = form >> 16;
  page = (page & 0xfe00) + ((page & 1) << 16);
  if (!(form & 0xff) || frames == 0) return 0;
  sqlite3_int64 size = 0;
  if (log->pMethods->xFileSize(log, &size) != SQLITE_OK) return 0;
  if (size >= 32 + (sqlite3_int64)frames * (page + 24)) return 0;
  // Another connection may have emptied the log, and filled it again: the index then has another number of frames or commits.
  return __atomic_load_n(words + 4, __ATOMIC_SEQ_CST) == frames && __atomic_load_n(words + 2, __ATOMIC_SEQ_CST) == commits;
}

int quire_header_commit_count(sqlite3 *db, uint32_t *count) {
  // <https://sqlite.org/fileformat.html#file_change_counter>
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return 0;
  unsigned char bytes[4];
  if (!file->pMethods || file->pMethods->xRead(file, bytes, 4, 24) != SQLITE_OK) return 0;
  *count = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
  return 1;
}

long quire_read_file(sqlite3 *db, int64_t offset, void *bytes, int length) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return -1;
  sqlite3_int64 size = 0;
  if (!file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK) return -1;
  if (offset >= size) return 0;
  if (length > size - offset) length = (int)(size - offset);
  return file->pMethods->xRead(file, bytes, length, offset) == SQLITE_OK ? length : -1;
}
