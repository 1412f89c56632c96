#include "CSQLite.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// MARK: the log's memory

static void fail(quire_capture *c, int code, const quire_table *table) {
  if (c->failure) return;
  c->failure = code;
  c->failed_table = table ? table->name : 0;
}

static int reserve(quire_capture *c, size_t more) {
  if (c->size - c->used >= more) return 1;
  size_t size = c->size ? c->size * 2 : 4096;
  while (size - c->used < more) size *= 2;
  uint8_t *bytes = realloc(c->bytes, size);
  if (!bytes) { fail(c, SQLITE_NOMEM, 0); return 0; }
  c->bytes = bytes;
  c->size = size;
  return 1;
}

static quire_event *append(quire_capture *c) {
  if (c->count == c->capacity) {
    size_t capacity = c->capacity ? c->capacity * 2 : 64;
    quire_event *events = realloc(c->events, capacity * sizeof(quire_event));
    if (!events) { fail(c, SQLITE_NOMEM, 0); return 0; }
    c->events = events;
    c->capacity = capacity;
  }
  return &c->events[c->count];
}

static void put_bytes(quire_capture *c, uint8_t tag, const void *bytes, uint32_t length) {
  if (!reserve(c, 5 + (size_t)length)) return;
  c->bytes[c->used] = tag;
  memcpy(c->bytes + c->used + 1, &length, 4);
  if (length) memcpy(c->bytes + c->used + 5, bytes, length);
  c->used += 5 + (size_t)length;
}

static void put_number(quire_capture *c, uint8_t tag, const void *eight) {
  if (!reserve(c, 9)) return;
  c->bytes[c->used] = tag;
  memcpy(c->bytes + c->used + 1, eight, 8);
  c->used += 9;
}

static void put_integer(quire_capture *c, int64_t value) { put_number(c, QUIRE_INTEGER, &value); }

// The type is asked before the text: asking for the text may change it.
static void put_value(quire_capture *c, sqlite3_value *value, int is_real) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: {
      int64_t integer = sqlite3_value_int64(value);
      if (is_real) {
        double real = (double)integer;
        put_number(c, QUIRE_REAL, &real);
      } else {
        put_integer(c, integer);
      }
      break;
    }
    case SQLITE_FLOAT: {
      double real = sqlite3_value_double(value);
      put_number(c, QUIRE_REAL, &real);
      break;
    }
    case SQLITE_TEXT: {
      const void *text = sqlite3_value_text(value);
      if (!text) { fail(c, SQLITE_NOMEM, 0); return; }
      put_bytes(c, QUIRE_TEXT, text, (uint32_t)sqlite3_value_bytes(value));
      break;
    }
    case SQLITE_BLOB: {
      // No memory to write out a blob of zeros gives a null pointer with a length.
      const void *blob = sqlite3_value_blob(value);
      int length = sqlite3_value_bytes(value);
      if (!blob && length) { fail(c, SQLITE_NOMEM, 0); return; }
      put_bytes(c, QUIRE_BLOB, blob, (uint32_t)length);
      break;
    }
    default:
      if (reserve(c, 1)) c->bytes[c->used++] = QUIRE_NULL;
  }
}

static size_t length_at(const quire_capture *c, size_t at) {
  switch (c->bytes[at]) {
    case QUIRE_INTEGER: case QUIRE_REAL: case QUIRE_ROW_ID: return 9;
    case QUIRE_TEXT: case QUIRE_BLOB: {
      uint32_t length;
      memcpy(&length, c->bytes + at + 1, 4);
      return 5 + (size_t)length;
    }
    default: return 1;
  }
}

// MARK: one event

typedef struct {
  quire_capture *capture;
  sqlite3 *db;
  quire_table *table;
  int op;
  int64_t old_key;
  int is_selected;  // `old_row` stands on the row
} row_event;

// Reads the old row from the table itself: the hook runs before the change, so it is still there.
static int select_old(row_event *e) {
  if (e->is_selected) return 1;
  quire_table *t = e->table;
  if (!t->old_row) { fail(e->capture, SQLITE_INTERNAL, t); return 0; }
  if (t->is_without_row_id) {
    for (int i = 0; i < t->key_count; i++) {
      sqlite3_value *value = 0;
      int code = sqlite3_preupdate_old(e->db, t->keys[i].old_index, &value);
      if (code) { fail(e->capture, code, t); return 0; }
      // preupdate_old may have made a real of an integer key; beyond 2^53 that would find another row.
      if (t->selects_old && sqlite3_value_type(value) == SQLITE_FLOAT && !t->keys[i].is_real
          && fabs(sqlite3_value_double(value)) >= 9007199254740992.0) {
        fail(e->capture, SQLITE_MISMATCH, t);
        return 0;
      }
      sqlite3_bind_value(t->old_row, i + 1, value);
    }
  } else {
    sqlite3_bind_int64(t->old_row, 1, e->old_key);
  }
  if (sqlite3_step(t->old_row) != SQLITE_ROW) {
    int code = sqlite3_reset(t->old_row);
    fail(e->capture, code ? code : SQLITE_INTERNAL, t);
    return 0;
  }
  e->is_selected = 1;
  return 1;
}

// `position` is the column's place in `old_row`.
static void put_old(row_event *e, const quire_column *column, int position) {
  quire_capture *c = e->capture;
  if (column->is_row_id) { put_integer(c, e->old_key); return; }
  sqlite3_value *value = 0;
  if (!e->table->selects_old) {
    int code = sqlite3_preupdate_old(e->db, column->old_index, &value);
    if (code) { fail(c, code, e->table); return; }
    if (!column->has_default || sqlite3_value_type(value) != SQLITE_NULL) {
      put_value(c, value, column->is_real);
      return;
    }
  }
  if (!select_old(e)) return;
  put_value(c, sqlite3_column_value(e->table->old_row, position), column->is_real);
}

static void put_new(row_event *e, const quire_column *column, int64_t new_key) {
  quire_capture *c = e->capture;
  if (column->is_row_id) { put_integer(c, new_key); return; }
  sqlite3_value *value = 0;
  int index = e->op == SQLITE_INSERT ? column->insert_index : column->update_index;
  int code = sqlite3_preupdate_new(e->db, index, &value);
  if (code) { fail(c, code, e->table); return; }
  put_value(c, value, column->is_real);
}

// A row of a rowid table whose declared key holds a NULL is not known by that key alone: its row id is added.
static void put_key(row_event *e, int is_old, int64_t row_id) {
  quire_capture *c = e->capture;
  quire_table *t = e->table;
  if (!reserve(c, 4)) return;
  size_t start = c->used;
  c->used += 4;
  int has_null = 0;
  for (int i = 0; i < t->key_count && !c->failure; i++) {
    size_t at = c->used;
    if (is_old) put_old(e, &t->keys[i], i); else put_new(e, &t->keys[i], row_id);
    if (c->used > at && c->bytes[at] == QUIRE_NULL) has_null = 1;
  }
  if (has_null) put_number(c, QUIRE_ROW_ID, &row_id);
  uint32_t length = (uint32_t)(c->used - start - 4);
  memcpy(c->bytes + start, &length, 4);
}

static void put_keys(row_event *e, int64_t new_key) {
  quire_capture *c = e->capture;
  size_t old = c->used;
  if (e->op != SQLITE_INSERT) put_key(e, 1, e->old_key);
  if (e->op == SQLITE_DELETE || c->failure) return;
  size_t new = c->used;
  put_key(e, 0, new_key);
  if (e->op == SQLITE_UPDATE && !c->failure && c->used - new == new - old
      && memcmp(c->bytes + old, c->bytes + new, new - old) == 0) {
    uint32_t same = QUIRE_SAME_KEY;
    memcpy(c->bytes + new, &same, 4);
    c->used = new + 4;
  }
}

static void put_images(row_event *e, int64_t new_key) {
  quire_capture *c = e->capture;
  quire_table *t = e->table;
  size_t old = c->used;
  int first = t->has_composite_key ? t->key_count : 0;
  if (e->op != SQLITE_INSERT)
    for (int i = 0; i < t->column_count && !c->failure; i++) put_old(e, &t->columns[i], first + i);
  if (e->op == SQLITE_DELETE) return;
  for (int i = 0; i < t->column_count && !c->failure; i++) {
    size_t at = c->used;
    put_new(e, &t->columns[i], new_key);
    if (e->op != SQLITE_UPDATE || c->failure) continue;
    size_t length = c->used - at, old_length = length_at(c, old);
    if (length == old_length && memcmp(c->bytes + old, c->bytes + at, length) == 0) {
      c->bytes[at] = QUIRE_SAME_AS_OLD;
      c->used = at + 1;
    }
    old += old_length;
  }
}

static quire_table *look_up(quire_capture *c, const char *name) {
  for (size_t i = 0; i < c->known_count; i++)
    if (strcmp(c->known[i]->name, name) == 0) return c->known[i];
  quire_table *table = c->find(c->context, name);
  if (!table) { fail(c, SQLITE_ERROR, 0); return 0; }
  if (c->known_count == c->known_capacity) {
    size_t capacity = c->known_capacity ? c->known_capacity * 2 : 16;
    quire_table **known = realloc(c->known, capacity * sizeof(*known));
    if (!known) { fail(c, SQLITE_NOMEM, table); return 0; }
    c->known = known;
    c->known_capacity = capacity;
  }
  return c->known[c->known_count++] = table;
}

static void release_large(quire_capture *c) {
  if (c->size > (16u << 20)) { free(c->bytes); c->bytes = 0; c->size = 0; }
  if (c->capacity > (1u << 18)) { free(c->events); c->events = 0; c->capacity = 0; }
}

static void give_up(quire_capture *c) {
  c->gave_up = 1;
  c->is_active = 0;
  c->count = c->used = c->indirect = 0;
  release_large(c);
}

static void on_change(void *context, sqlite3 *db, int op, const char *database, const char *name, sqlite3_int64 old_key,
                      sqlite3_int64 new_key) {
  quire_capture *c = context;
  if (!c->is_active || c->is_ignoring || c->failure || strcmp(database, "main") != 0) return;
  quire_table *t = c->last;
  if (!t || strcmp(t->name, name) != 0) {
    t = look_up(c, name);
    if (!t) return;
    c->last = t;
  }
  c->own += t->is_own;
  if (!t->is_reported) return;
  if (c->limit && c->used + c->count * sizeof(quire_event) > c->limit) { give_up(c); return; }
  quire_event *event = append(c);
  if (!event) return;
  event->old_key = old_key;
  event->new_key = new_key;
  event->image = c->used;
  event->table = t->id;
  event->op = (uint8_t)op;
  event->is_blob_write = 0;
  event->unused = 0;
  event->is_indirect = sqlite3_preupdate_depth(db) > 0;
  c->indirect += event->is_indirect;
  row_event e = {c, db, t, op, old_key, 0};
  // sqlite3_blob_write reports a DELETE; the new row is read when the log is folded. The old values go in as for a
  // DELETE, so the event keeps that shape and is told apart by its flag.
  if (op == SQLITE_DELETE && sqlite3_preupdate_blobwrite(db) >= 0) event->is_blob_write = 1;
  if (t->has_composite_key) put_keys(&e, new_key);
  if (t->column_count && !c->failure) put_images(&e, new_key);
  if (e.is_selected) sqlite3_reset(t->old_row);
  c->count++;
}

// MARK: the savepoint sensor
//
// A virtual table that is written to once at the start of each transaction takes part in it, and so is told of every
// savepoint, also of the one SQLite makes around a statement that may fail half way.

typedef struct { sqlite3_vtab base; quire_capture *capture; } sensor;

static int sensor_connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **table,
                          char **message) {
  (void)argc; (void)argv; (void)message;
  int code = sqlite3_declare_vtab(db, "CREATE TABLE x(x)");
  if (code) return code;
  sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
  sensor *s = sqlite3_malloc(sizeof(sensor));
  if (!s) return SQLITE_NOMEM;
  memset(s, 0, sizeof(*s));
  s->capture = context;
  *table = &s->base;
  return SQLITE_OK;
}
static int sensor_disconnect(sqlite3_vtab *table) { sqlite3_free(table); return SQLITE_OK; }
static int sensor_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
  (void)table;
  info->estimatedCost = 1;
  return SQLITE_OK;
}
static int sensor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
  (void)table;
  *cursor = sqlite3_malloc(sizeof(sqlite3_vtab_cursor));
  if (!*cursor) return SQLITE_NOMEM;
  memset(*cursor, 0, sizeof(sqlite3_vtab_cursor));
  return SQLITE_OK;
}
static int sensor_close(sqlite3_vtab_cursor *cursor) { sqlite3_free(cursor); return SQLITE_OK; }
static int sensor_filter(sqlite3_vtab_cursor *cursor, int n, const char *s, int argc, sqlite3_value **argv) {
  (void)cursor; (void)n; (void)s; (void)argc; (void)argv;
  return SQLITE_OK;
}
static int sensor_next(sqlite3_vtab_cursor *cursor) { (void)cursor; return SQLITE_OK; }
static int sensor_eof(sqlite3_vtab_cursor *cursor) { (void)cursor; return 1; }
static int sensor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i) {
  (void)cursor; (void)context; (void)i;
  return SQLITE_OK;
}
static int sensor_row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id) { (void)cursor; *id = 0; return SQLITE_OK; }
static int sensor_update(sqlite3_vtab *table, int argc, sqlite3_value **argv, sqlite3_int64 *id) {
  (void)table; (void)argc; (void)argv;
  *id = 0;
  return SQLITE_OK;
}

static int sensor_begin(sqlite3_vtab *table) { ((sensor *)table)->capture->mark_count = 0; return SQLITE_OK; }
static int sensor_sync(sqlite3_vtab *table) {
  // The last moment at which the transaction can be refused.
  return ((sensor *)table)->capture->failure ? SQLITE_ABORT : SQLITE_OK;
}
static int sensor_commit(sqlite3_vtab *table) { (void)table; return SQLITE_OK; }
static int sensor_rollback(sqlite3_vtab *table) {
  quire_capture *c = ((sensor *)table)->capture;
  c->count = c->used = c->indirect = 0;
  return SQLITE_OK;
}
static int sensor_savepoint(sqlite3_vtab *table, int number) {
  quire_capture *c = ((sensor *)table)->capture;
  if (number >= c->mark_capacity) {
    int capacity = number + 8;
    quire_mark *marks = realloc(c->marks, (size_t)capacity * sizeof(quire_mark));
    if (!marks) return SQLITE_NOMEM;
    c->marks = marks;
    c->mark_capacity = capacity;
  }
  for (; c->mark_count <= number; c->mark_count++) c->marks[c->mark_count] = (quire_mark){0, 0, 0};
  c->marks[number] = (quire_mark){c->count, c->used, c->indirect};
  return SQLITE_OK;
}
static int sensor_release(sqlite3_vtab *table, int number) { (void)table; (void)number; return SQLITE_OK; }
static int sensor_rollback_to(sqlite3_vtab *table, int number) {
  quire_capture *c = ((sensor *)table)->capture;
  c->rollbacks++;
  // A savepoint older than the enlisting is the transaction itself, and so is -1: the savepoint that began it.
  quire_mark mark = number >= 0 && number < c->mark_count ? c->marks[number] : (quire_mark){0, 0, 0};
  if (mark.count < c->count) c->count = mark.count;
  if (mark.used < c->used) c->used = mark.used;
  if (mark.indirect < c->indirect) c->indirect = mark.indirect;
  return SQLITE_OK;
}

static const sqlite3_module sensor_module = {
  .iVersion = 2,
  .xCreate = 0,  // eponymous: there without CREATE VIRTUAL TABLE
  .xConnect = sensor_connect,
  .xBestIndex = sensor_best_index,
  .xDisconnect = sensor_disconnect,
  .xDestroy = sensor_disconnect,
  .xOpen = sensor_open,
  .xClose = sensor_close,
  .xFilter = sensor_filter,
  .xNext = sensor_next,
  .xEof = sensor_eof,
  .xColumn = sensor_column,
  .xRowid = sensor_row_id,
  .xUpdate = sensor_update,
  .xBegin = sensor_begin,
  .xSync = sensor_sync,
  .xCommit = sensor_commit,
  .xRollback = sensor_rollback,
  .xSavepoint = sensor_savepoint,
  .xRelease = sensor_release,
  .xRollbackTo = sensor_rollback_to,
};

// MARK: its life

static void destroy(void *context) {
  quire_capture *c = context;
  free(c->events);
  free(c->bytes);
  free(c->marks);
  free(c->known);
  free(c);
}

int quire_capture_install(sqlite3 *db, quire_capture **capture) {
  *capture = 0;
  quire_capture *c = calloc(1, sizeof(*c));
  if (!c) return SQLITE_NOMEM;
  int code = sqlite3_create_module_v2(db, "_quire_sensor", &sensor_module, c, destroy);  // destroys it where it fails, too
  if (code) return code;
  sqlite3_preupdate_hook(db, on_change, c);
  *capture = c;
  return SQLITE_OK;
}

void quire_capture_uninstall(quire_capture *c, sqlite3 *db) {
  c->is_active = 0;
  c->context = 0;
  sqlite3_preupdate_hook(db, 0, 0);
}

void quire_capture_begin(quire_capture *c) {
  c->count = c->used = c->indirect = 0;
  c->failure = 0;
  c->failed_table = 0;
  c->rollbacks = 0;
  c->own = 0;
  c->is_ignoring = 0;
  c->limit = 0;
  c->gave_up = 0;
  release_large(c);
}

void quire_capture_forget(quire_capture *c) {
  c->last = 0;
  c->known_count = 0;
}
