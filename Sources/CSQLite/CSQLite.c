#include "CSQLite.h"

void quire_real_text(double value, char text[32]) { sqlite3_snprintf(32, text, "%!.15g", value); }

int quire_db_config(sqlite3 *db, int option, int on) { return sqlite3_db_config(db, option, on, (int *)0); }

unsigned quire_data_version(sqlite3 *db) {
  unsigned version = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return version;
}
