#include "Functions.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// median(x), percentile(x, p), variance(x) and stddev(x), as SQL functions. NULL is passed over, as by avg(); the result is
// NULL without values, and a real number otherwise.

/// The number that a value is, or looks like as text; returns 0, after an error, for what is none, and for NULL.
static int number(sqlite3_context *context, sqlite3_value *value, const char *name, double *result) {
  if (sqlite3_value_type(value) == SQLITE_NULL) return 0;
  int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
    *result = sqlite3_value_double(value);
    return 1;
  }
  char *message = sqlite3_mprintf("%s() of what is no number", name);
  if (!message) return sqlite3_result_error_nomem(context), 0;
  sqlite3_result_error(context, message, -1);
  sqlite3_free(message);
  return 0;
}

// MARK: percentiles

typedef struct {
  double *values;
  size_t count, capacity;
  double share;  // between 0 and 1
  uint8_t has_share;
} quire_sample;

static void collect(sqlite3_context *context, sqlite3_value *value, double share, const char *name) {
  double number_found;
  quire_sample *sample = sqlite3_aggregate_context(context, sizeof *sample);
  if (!sample) return sqlite3_result_error_nomem(context);
  if (sample->has_share && sample->share != share) {
    return sqlite3_result_error(context, "percentile() has another second argument for another row", -1);
  }
  sample->share = share;
  sample->has_share = 1;
  if (!number(context, value, name, &number_found)) return;
  if (sample->count == sample->capacity) {
    size_t capacity = sample->capacity ? sample->capacity * 2 : 64;
    double *values = sqlite3_realloc64(sample->values, capacity * sizeof(double));
    if (!values) return sqlite3_result_error_nomem(context);
    sample->values = values;
    sample->capacity = capacity;
  }
  sample->values[sample->count++] = number_found;
}

static void collect_median(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  collect(context, values[0], 0.5, "median");
}

static void collect_percentile(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  int type = sqlite3_value_numeric_type(values[1]);
  double percent = sqlite3_value_double(values[1]);
  if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(percent >= 0 && percent <= 100)) {
    return sqlite3_result_error(context, "percentile() takes a number from 0 to 100 for its second argument", -1);
  }
  collect(context, values[0], percent / 100, "percentile");
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void finish_sample(sqlite3_context *context) {
  quire_sample *sample = sqlite3_aggregate_context(context, 0);
  if (!sample || !sample->count) return;
  qsort(sample->values, sample->count, sizeof(double), compare);
  // Between the two values next to that place, in proportion to how near it is to each.
  double place = sample->share * (double)(sample->count - 1);
  size_t below = (size_t)place;
  double low = sample->values[below], high = below + 1 < sample->count ? sample->values[below + 1] : low;
  double part = place - (double)below, distance = high - low;
  // The distance of two huge numbers may be beyond all numbers.
  double result = isinf(distance) ? low * (1 - part) + high * part : low + distance * part;
  sqlite3_result_double(context, low == high || part == 0 ? low : result);
  sqlite3_free(sample->values);
  sample->values = 0;
}

// MARK: variance

/// By Welford's method. The mean has a rest that its double has no room for: the distance from a mean that is rounded would be
/// wrong by as much, and so would the variance of values that are large and near each other.
typedef struct {
  int64_t count;
  double mean, rest;  // the mean is their sum
  double squares;     // the sum of the squared distances from the mean
  uint8_t has_infinity;
} quire_spread;

/// What an integer has beyond its nearest double.
static double rest_of(sqlite3_value *value, double nearest) {
  if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER) return 0;
  int64_t whole = sqlite3_value_int64(value);
  // The double next to the greatest integer is one above it.
  return nearest < 0x1p63 ? (double)(whole - (int64_t)nearest) : (double)(whole - INT64_MAX) - 1;
}

static void move_mean(quire_spread *spread, double by) {
  double sum = spread->mean + by, part = sum - spread->mean;
  double rest = spread->rest + ((spread->mean - (sum - part)) + (by - part));
  spread->mean = sum + rest;
  spread->rest = rest - (spread->mean - sum);
}

static void spread(sqlite3_context *context, sqlite3_value *value, const char *name) {
  double found;
  if (!number(context, value, name, &found)) return;
  quire_spread *spread = sqlite3_aggregate_context(context, sizeof *spread);
  if (!spread) return sqlite3_result_error_nomem(context);
  spread->count++;
  if (isinf(found)) spread->has_infinity = 1;
  double rest = rest_of(value, found);
  if (spread->count == 1) {
    spread->mean = found;
    spread->rest = rest;
    return;
  }
  double distance = (found - spread->mean) + (rest - spread->rest);
  move_mean(spread, distance / (double)spread->count);
  spread->squares += distance * ((found - spread->mean) + (rest - spread->rest));
}

static void spread_variance(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  spread(context, values[0], "variance");
}

static void spread_deviation(sqlite3_context *context, int count, sqlite3_value **values) {
  (void)count;
  spread(context, values[0], "stddev");
}

/// Of a sample: one less than there are values divides. Returns 0 for fewer than two, and where one is infinite, which is at no
/// distance from a mean.
static int variance(sqlite3_context *context, double *result) {
  quire_spread *spread = sqlite3_aggregate_context(context, 0);
  if (!spread || spread->count < 2 || spread->has_infinity) return 0;
  // Otherwise a square was beyond all numbers.
  *result = isfinite(spread->squares) ? spread->squares / (double)(spread->count - 1) : INFINITY;
  return 1;
}

static void finish_variance(sqlite3_context *context) {
  double result;
  if (variance(context, &result)) sqlite3_result_double(context, result);
}

static void finish_deviation(sqlite3_context *context) {
  double result;
  if (variance(context, &result)) sqlite3_result_double(context, sqrt(result));
}

const quire_function quire_statistics[] = {
  {"median", 1, 0, collect_median, finish_sample},
  {"percentile", 2, 0, collect_percentile, finish_sample},
  {"variance", 1, 0, spread_variance, finish_variance},
  {"stddev", 1, 0, spread_deviation, finish_deviation},
  {0, 0, 0, 0, 0},
};
