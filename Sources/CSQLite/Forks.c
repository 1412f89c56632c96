#include "CSQLite.h"
#include <pthread.h>
#include <stdlib.h>

// SQLite's locks on a file belong to a process, and so does what SQLite remembers of them, for each file that it has open.
// A child that `fork` has made has the memory and none of the locks.

typedef struct {
  uint64_t device, inode;
  unsigned connections;
  int is_inherited;
} open_file;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static open_file *files;
static size_t count, capacity;
static int forks;

static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void in_parent(void) { pthread_mutex_unlock(&mutex); }
static void in_child(void) {
  forks++;
  for (size_t i = 0; i < count; i++) files[i].is_inherited |= files[i].connections > 0;
  pthread_mutex_unlock(&mutex);
}

// Not for `posix_spawn` and `vfork`, behind which another program begins.
__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

int quire_forks(void) { return forks; }

static open_file *find(uint64_t device, uint64_t inode) {
  for (size_t i = 0; i < count; i++) {
    if (files[i].inode == inode && files[i].device == device) return &files[i];
  }
  return 0;
}

int quire_file_opened(uint64_t device, uint64_t inode) {
  pthread_mutex_lock(&mutex);
  open_file *file = find(device, inode);
  if (!file) {
    if (count == capacity) {
      size_t more = capacity ? capacity * 2 : 16;
      open_file *grown = realloc(files, more * sizeof *grown);
      if (!grown) {
        pthread_mutex_unlock(&mutex);
        return 0;
      }
      files = grown;
      capacity = more;
    }
    file = &files[count++];
    *file = (open_file){device, inode, 0, 0};
  }
  file->connections++;
  pthread_mutex_unlock(&mutex);
  return 1;
}

void quire_file_closed(uint64_t device, uint64_t inode) {
  pthread_mutex_lock(&mutex);
  open_file *file = find(device, inode);
  if (file && file->connections > 0 && --file->connections == 0 && !file->is_inherited) *file = files[--count];
  pthread_mutex_unlock(&mutex);
}

int quire_file_is_inherited(uint64_t device, uint64_t inode) {
  if (forks == 0) return 0;
  pthread_mutex_lock(&mutex);
  open_file *file = find(device, inode);
  int is_inherited = file && file->is_inherited;
  pthread_mutex_unlock(&mutex);
  return is_inherited;
}
