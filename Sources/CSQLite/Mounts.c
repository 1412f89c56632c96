#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "CSQLite.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int quire_is_mounted(const char *path) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx info;
  return statx(AT_FDCWD, path, 0, 0, &info) == 0 && (info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
#else
  (void)path;
  return 0;
#endif
}

int quire_new_file_error(const char *folder) {
#ifdef O_TMPFILE
  int file = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file >= 0) {
    close(file);
    return 0;
  }
  if (errno == ENOSPC || errno == EDQUOT) return errno;
#else
  (void)folder;
#endif
  return 0;
}
