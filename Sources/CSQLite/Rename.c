#define _GNU_SOURCE
#include "CSQLite.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int quire_rename_new(const char *old_path, const char *new_path) {
#ifdef __APPLE__
  return renamex_np(old_path, new_path, RENAME_EXCL);
#else
  if (renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  // A file system that cannot do both in one step.
  if (access(new_path, F_OK) == 0) {
    errno = EEXIST;
    return -1;
  }
  return rename(old_path, new_path);
#endif
}
