#include "Functions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The exact sum of decimals that are kept as text, as SQL functions: `DecimalSum` of QuireRow is the same in Swift, where the
// rules are; a test holds the two against each other.

#define PLACES 44
#define ONES 20  // the place of the digit of ones
#define BASE 1000000000

typedef struct {
  int64_t digits[PLACES];  // of weight 10^(9 * (place - ONES)), with carries not yet passed on
  int64_t count;           // values that are not NULL
  uint32_t additions;      // since carries were last passed on
  uint8_t has_strangers;
} quire_decimal_total;

static void pass_on(quire_decimal_total *total) {
  for (int place = 0; place < PLACES - 1; place++) {
    int64_t carry = (total->digits[place] - (total->digits[place] < 0 ? BASE - 1 : 0)) / BASE;
    total->digits[place] -= carry * BASE;
    total->digits[place + 1] += carry;
  }
  total->additions = 0;
}

/// Returns 0 for what is no decimal, or has digits beyond those of any `Decimal`; then nothing was added.
static int add(quire_decimal_total *total, const unsigned char *text, int end) {
  static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  int is_negative = end > 0 && text[0] == '-';
  int start = is_negative || (end > 0 && text[0] == '+');
  const unsigned char *found = end > 0 ? memchr(text, '.', (size_t)end) : 0;
  int point = found ? (int)(found - text) : end;
  if (end - start < (found ? 2 : 1)) return 0;
  if (total->additions == 1u << 30) pass_on(total);
  for (int is_check = 1; is_check >= 0; is_check--) {
    for (int place = start; place < end; place++) {
      if (place == point) continue;
      if (text[place] < '0' || text[place] > '9') return 0;
      if (text[place] == '0') continue;
      int power = place < point ? point - place - 1 : point - place;
      if (power < -180 || power >= 198) return 0;
      if (is_check) continue;
      int64_t amount = (text[place] - '0') * powers[(power + 180) % 9];
      total->digits[(power + 180) / 9] += is_negative ? -amount : amount;
    }
  }
  total->additions++;
  return 1;
}

static void step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int type = sqlite3_value_type(values[0]);
  if (type == SQLITE_NULL) return;
  quire_decimal_total *total = sqlite3_aggregate_context(context, sizeof *total);
  if (!total) return sqlite3_result_error_nomem(context);
  total->count++;
  const unsigned char *text = type == SQLITE_TEXT ? sqlite3_value_text(values[0]) : 0;
  if (type == SQLITE_TEXT && !text) return sqlite3_result_error_nomem(context);
  if (!text || !add(total, text, sqlite3_value_bytes(values[0]))) total->has_strangers = 1;
}

/// Makes all digits those of the sum's magnitude; returns whether it is below 0.
static int settle(quire_decimal_total *total) {
  pass_on(total);
  if (total->digits[PLACES - 1] >= 0) return 0;
  for (int place = 0; place < PLACES; place++) total->digits[place] = -total->digits[place];
  pass_on(total);
  return 1;
}

static int refuse(sqlite3_context *context, quire_decimal_total *total) {
  if (total->has_strangers) sqlite3_result_text(context, "a sum of what is no decimal", -1, SQLITE_STATIC);
  return total->has_strangers;
}

static void finish_sum(sqlite3_context *context) {
  quire_decimal_total *total = sqlite3_aggregate_context(context, 0);
  if (!total) return sqlite3_result_text(context, "0", 1, SQLITE_STATIC);
  if (refuse(context, total)) return;
  int is_negative = settle(total), top = PLACES - 1, low = 0, size = 0;
  char text[9 * PLACES + 4];
  while (top > ONES && total->digits[top] == 0) top--;
  while (low < ONES && total->digits[low] == 0) low++;
  if (is_negative) text[size++] = '-';
  size += sprintf(text + size, "%lld", (long long)total->digits[top]);
  for (int place = top - 1; place >= low; place--) {
    size += sprintf(text + size, place == ONES - 1 ? ".%09lld" : "%09lld", (long long)total->digits[place]);
  }
  if (low < ONES) {
    while (text[size - 1] == '0') size--;
  }
  sqlite3_result_text(context, text, size, SQLITE_TRANSIENT);
}

static void finish_average(sqlite3_context *context) {
  quire_decimal_total *total = sqlite3_aggregate_context(context, 0);
  if (!total) return sqlite3_result_null(context);
  if (refuse(context, total)) return;
  int is_negative = settle(total), size = 0;
  // Eight digits more than there are give a quotient of more digits than tell two reals apart.
  char text[9 * (PLACES + 8) + 16];
  uint64_t count = (uint64_t)total->count, rest = 0;
  for (int place = PLACES + 7; place >= 0; place--) {
    unsigned __int128 part = (unsigned __int128)rest * BASE + (uint64_t)(place >= 8 ? total->digits[place - 8] : 0);
    size += sprintf(text + size, "%09llu", (unsigned long long)(part / count));
    rest = (uint64_t)(part % count);
  }
  // Without a point, which a locale may write otherwise.
  sprintf(text + size, "%de%d", rest != 0, -9 * (ONES + 8) - 1);
  double result = strtod(text, 0);
  sqlite3_result_double(context, is_negative ? -result : result);
}

const quire_function quire_decimal_totals[] = {
  {"quire_decimal_sum", 1, 0, step, finish_sum},
  {"quire_decimal_average", 1, 0, step, finish_average},
  {0, 0, 0, 0, 0},
};
