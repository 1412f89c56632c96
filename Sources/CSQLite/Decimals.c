#include "Functions.h"
#include <string.h>

// Decimals that are kept as text, in their order, as SQL functions: `DecimalOrder` of QuireRow is the same in Swift, where
// the form of a key is described; a test holds the two against each other.

typedef struct {
  unsigned char *bytes;  // null for what is no decimal
  int size;
} quire_key;

/// The key of a value, in memory that the caller frees; returns 0 if there was none to be had.
static int make_key(sqlite3_value *value, quire_key *key) {
  key->bytes = 0;
  if (sqlite3_value_type(value) != SQLITE_TEXT) return 1;
  const unsigned char *text = sqlite3_value_text(value);
  if (!text) return 0;
  int end = sqlite3_value_bytes(value);
  int is_negative = end > 0 && text[0] == '-';
  int start = is_negative || (end > 0 && text[0] == '+');
  int point = -1, first = -1, last = -1;  // first and last: of the digits that are not 0
  for (int place = start; place < end; place++) {
    if (text[place] == '.' && point < 0) {
      point = place;
    } else if (text[place] < '0' || text[place] > '9') {
      return 1;
    } else if (text[place] != '0') {
      if (first < 0) first = place;
      last = place;
    }
  }
  if (end - start - (point >= 0) < 1) return 1;
  if (point < 0) point = end;
  unsigned char *bytes = sqlite3_malloc(first < 0 ? 1 : last - first + 7);
  if (!bytes) return 0;
  key->bytes = bytes;
  key->size = 0;
  bytes[key->size++] = first < 0 ? 1 : is_negative ? 0 : 2;
  if (first < 0) return 1;
  unsigned char mask = is_negative ? 0xFF : 0;
  uint32_t exponent = (uint32_t)(point > first ? point - first : point - first + 1) ^ 0x80000000u;
  for (int shift = 24; shift >= 0; shift -= 8) bytes[key->size++] = (unsigned char)(exponent >> shift) ^ mask;
  for (int place = first; place <= last; place++) {
    if (place != point) bytes[key->size++] = text[place] ^ mask;
  }
  if (is_negative) bytes[key->size++] = 0xFF;
  return 1;
}

static void order_key(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  quire_key key;
  if (!make_key(values[0], &key)) return sqlite3_result_error_nomem(context);
  if (!key.bytes) return sqlite3_result_null(context);
  sqlite3_result_blob(context, key.bytes, key.size, sqlite3_free);
}

typedef struct {
  quire_key key;
  sqlite3_value *value;
} quire_extreme;

static int compare(quire_key a, quire_key b) {
  int order = memcmp(a.bytes, b.bytes, (size_t)(a.size < b.size ? a.size : b.size));
  return order != 0 ? order : a.size - b.size;
}

/// Keeps the value if it is the only one or goes before the one that is kept, times the sign.
static void keep(sqlite3_context *context, sqlite3_value *value, int sign) {
  quire_extreme *extreme = sqlite3_aggregate_context(context, sizeof *extreme);
  quire_key key;
  if (!extreme || !make_key(value, &key)) return sqlite3_result_error_nomem(context);
  if (!key.bytes) return;
  if (extreme->key.bytes && sign * compare(key, extreme->key) >= 0) return sqlite3_free(key.bytes);
  sqlite3_free(extreme->key.bytes);
  sqlite3_value_free(extreme->value);
  extreme->key = key;
  extreme->value = sqlite3_value_dup(value);
  if (!extreme->value) sqlite3_result_error_nomem(context);
}

static void keep_least(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  keep(context, values[0], 1);
}

static void keep_greatest(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  keep(context, values[0], -1);
}

static void finish(sqlite3_context *context) {
  quire_extreme *extreme = sqlite3_aggregate_context(context, 0);
  if (!extreme) return sqlite3_result_null(context);
  if (extreme->value) sqlite3_result_value(context, extreme->value); else sqlite3_result_null(context);
  sqlite3_free(extreme->key.bytes);
  sqlite3_value_free(extreme->value);
}

const quire_function quire_decimals[] = {
  {"quire_decimal_order", 1, order_key, 0, 0},
  {"quire_decimal_min", 1, 0, keep_least, finish},
  {"quire_decimal_max", 1, 0, keep_greatest, finish},
  {0, 0, 0, 0, 0},
};
