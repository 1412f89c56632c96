#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CSQLite.h"
#include <fcntl.h>
#include <sys/stat.h>

int quire_is_mounted(const char *path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx info;
  return statx(AT_FDCWD, path, 0, 0, &info) == 0 && (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)path;
  return 0;
#endif
}
