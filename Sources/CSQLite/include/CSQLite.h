#ifndef QUIRE_CSQLITE_H
#define QUIRE_CSQLITE_H
// The preupdate functions are in Debian's library; its header shows them only to who asks.
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>
#endif
