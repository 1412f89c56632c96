#include "Functions.h"

int quire_functions_install(sqlite3 *db) {
  const quire_function *all[] = {quire_totals, quire_decimals, quire_decimal_totals, quire_statistics};
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    for (const quire_function *one = all[i]; one->name; one++) {
      int code = sqlite3_create_function_v2(
        db, one->name, one->arguments, flags, 0, one->call, one->step, one->finish, 0);
      if (code != SQLITE_OK) return code;
    }
  }
  return SQLITE_OK;
}
