#ifndef QUIRE_FUNCTIONS_H
#define QUIRE_FUNCTIONS_H

#include "CSQLite.h"

/// A function of SQL: either `call`, or the two of an aggregate.
typedef struct {
  const char *name;
  int arguments;
  void (*call)(sqlite3_context *, int, sqlite3_value **);
  void (*step)(sqlite3_context *, int, sqlite3_value **);
  void (*finish)(sqlite3_context *);
} quire_function;

// Each ends with one that has no name.
extern const quire_function quire_totals[];
extern const quire_function quire_decimals[];
extern const quire_function quire_decimal_totals[];
extern const quire_function quire_statistics[];

#endif
