#include "Functions.h"
#include <math.h>
#include <string.h>

// The exact sum of a column, rounded once, as SQL functions: `ExactSum` of QuireRow is the same in Swift, where the
// rules are; a test holds the two against each other. SQLite's own sum() and avg() round at every row.

#define PLACES 70
#define ONES 34  // the place of the digit of ones: 2^-1074 lies above the place 0

typedef struct {
  int64_t digits[PLACES];  // of weight 2^(32 * (place - ONES)), with carries not yet passed on
  int64_t count;           // values that are not NULL
  uint32_t additions;      // since carries were last passed on
  uint8_t has_reals, has_positive_infinity, has_negative_infinity, has_strangers;
} quire_total;

static void pass_on(quire_total *total) {
  for (int place = 0; place < PLACES - 1; place++) {
    total->digits[place + 1] += total->digits[place] >> 32;
    total->digits[place] &= 0xFFFFFFFF;
  }
  total->additions = 0;
}

/// Adds ±magnitude · 2^exponent.
static void add(quire_total *total, uint64_t magnitude, int exponent, int is_negative) {
  if (total->additions == 1u << 30) pass_on(total);
  total->additions++;
  int bit = exponent + ONES * 32, place = bit >> 5, shift = bit & 31;
  uint64_t low = magnitude << shift, high = shift == 0 ? 0 : magnitude >> (64 - shift);
  int64_t sign = is_negative ? -1 : 1;
  total->digits[place] += sign * (int64_t)(low & 0xFFFFFFFF);
  total->digits[place + 1] += sign * (int64_t)(low >> 32);
  total->digits[place + 2] += sign * (int64_t)high;
}

static void add_real(quire_total *total, double value) {
  total->has_reals = 1;
  if (isinf(value)) {
    if (value > 0) total->has_positive_infinity = 1; else total->has_negative_infinity = 1;
    return;
  }
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7FF);
  uint64_t magnitude = bits & (((uint64_t)1 << 52) - 1);
  if (exponent == 0) exponent = 1; else magnitude |= (uint64_t)1 << 52;
  add(total, magnitude, exponent - 1075, (int)(bits >> 63));
}

static void step(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int type = sqlite3_value_type(values[0]);
  if (type == SQLITE_NULL) return;
  quire_total *total = sqlite3_aggregate_context(context, sizeof *total);
  if (!total) return sqlite3_result_error_nomem(context);
  total->count++;
  if (type == SQLITE_INTEGER) {
    sqlite3_int64 value = sqlite3_value_int64(values[0]);
    add(total, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 0, value < 0);
  } else if (type == SQLITE_FLOAT) {
    add_real(total, sqlite3_value_double(values[0]));
  } else {
    total->has_strangers = 1;
  }
}

/// Makes all digits those of the sum's magnitude; returns whether it is below 0.
static int settle(quire_total *total) {
  pass_on(total);
  if (total->digits[PLACES - 1] >= 0) return 0;
  for (int place = 0; place < PLACES; place++) total->digits[place] = -total->digits[place];
  pass_on(total);
  return 1;
}

/// digits · 2^exponent to the nearest real, ties to even; `is_inexact` says that there is a little more.
static double rounded(const uint32_t *digits, int count, int exponent, int is_inexact) {
  int top = count - 1;
  while (top >= 0 && digits[top] == 0) top--;
  if (top < 0) return 0;
  int high = 32 * top + 31 - __builtin_clz(digits[top]);
  if (high + exponent > 1023) return INFINITY;
  // The bit that becomes the last one of the result.
  int last = high - 52 > -1074 - exponent ? high - 52 : -1074 - exponent;
#define BIT(place) ((place) < 0 || (place) >> 5 > top ? 0 : digits[(place) >> 5] >> ((place) & 31) & 1)
  uint64_t significand = 0;
  for (int place = high; place >= last; place--) significand = significand << 1 | BIT(place);
  if (BIT(last - 1)) {
    int below = last - 1, has_more = is_inexact;
    for (int place = 0; place < below >> 5 && !has_more; place++) has_more = digits[place] != 0;
    if (digits[below >> 5] & (((uint32_t)1 << (below & 31)) - 1)) has_more = 1;
    if (has_more || significand & 1) significand++;
  }
#undef BIT
  return ldexp((double)significand, last + exponent);
}

/// The exact sum by a count, rounded once.
static double quotient(quire_total *total, uint64_t count) {
  int is_negative = settle(total);
  // Four digits more than there are give a quotient of more bits than a real has.
  uint32_t digits[PLACES + 4] = {0};
  for (int place = 0; place < PLACES; place++) digits[place + 4] = (uint32_t)total->digits[place];
  uint64_t rest = 0;
  for (int place = PLACES + 3; place >= 0 && count > 1; place--) {
    unsigned __int128 part = (unsigned __int128)rest << 32 | digits[place];
    digits[place] = (uint32_t)(part / count);
    rest = (uint64_t)(part % count);
  }
  double result = rounded(digits, PLACES + 4, -32 * (ONES + 4), rest != 0);
  return is_negative ? -result : result;
}

static void refuse(sqlite3_context *context, const char *reason) {
  sqlite3_result_text(context, reason, -1, SQLITE_STATIC);
}

/// What has no value as a number of any kind; returns whether it was said.
static int finish_odd(sqlite3_context *context, quire_total *total) {
  if (total->has_strangers) {
    refuse(context, "a sum of what is no number");
  } else if (total->has_positive_infinity && total->has_negative_infinity) {
    refuse(context, "a sum of infinities of both signs");
  } else if (total->has_positive_infinity || total->has_negative_infinity) {
    sqlite3_result_double(context, total->has_positive_infinity ? INFINITY : -INFINITY);
  } else {
    return 0;
  }
  return 1;
}

static void finish_sum(sqlite3_context *context) {
  quire_total *total = sqlite3_aggregate_context(context, 0);
  if (!total) return sqlite3_result_int64(context, 0);
  if (finish_odd(context, total)) return;
  if (total->has_reals) return sqlite3_result_double(context, quotient(total, 1));
  int is_negative = settle(total), fits = 1;
  for (int place = ONES + 2; place < PLACES; place++) fits &= total->digits[place] == 0;
  uint64_t value = (uint64_t)total->digits[ONES] | (uint64_t)total->digits[ONES + 1] << 32;
  if (!fits || value > (uint64_t)INT64_MAX + (uint64_t)is_negative) return refuse(context, "a sum beyond Int64");
  sqlite3_result_int64(context, (sqlite3_int64)(is_negative ? 0 - value : value));
}

static void finish_average(sqlite3_context *context) {
  quire_total *total = sqlite3_aggregate_context(context, 0);
  if (!total) return sqlite3_result_null(context);
  if (finish_odd(context, total)) return;
  sqlite3_result_double(context, quotient(total, (uint64_t)total->count));
}

const quire_function quire_totals[] = {
  {"quire_sum", 1, 0, step, finish_sum},
  {"quire_average", 1, 0, step, finish_average},
  {0, 0, 0, 0, 0},
};
