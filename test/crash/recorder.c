/*
 * Records what a process does to the files below one folder: every write, truncation, sync, rename and removal, in order.
 *
 * Preloaded (LD_PRELOAD) into a writer. From the record, `rebuild-disk.ts` makes any state in which a power cut could
 * have left the disk. Shared-memory files (-shm) are never synced and never recorded.
 *
 * Record: four little-endian words of 64 bits (kind, path length, offset, byte count), then the path, then the bytes.
 * Kinds: 1 write, 2 truncation (offset = new size), 3 sync, 4 rename (bytes = new path), 5 removal.
 * The record is written before a write takes effect and after a sync has returned, so it never promises too much.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { WRITE = 1, TRUNCATION = 2, SYNC = 3, RENAME = 4, REMOVAL = 5 };

static const char *folder;
static size_t folder_length;
static int log_fd = -1;
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void open_log(void) {
  const char *log = getenv("RECORDER_LOG");
  folder = getenv("RECORDER_FOLDER");
  if (!folder || !log) return;
  folder_length = strlen(folder);
  log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_ours(const char *path) {
  size_t length = strlen(path);
  if (log_fd < 0 || strncmp(path, folder, folder_length) != 0) return 0;
  return !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

static int path_of(int fd, char *path) {
  char link[64];
  if (log_fd < 0 || fd == log_fd) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

static void put(enum kind kind, const char *path, uint64_t offset, const void *bytes, uint64_t count) {
  uint64_t head[4] = {kind, strlen(path), offset, count};
  struct iovec parts[3] = {{head, sizeof head}, {(void *)path, head[1]}, {(void *)bytes, count}};
  syscall(SYS_writev, log_fd, parts, 3);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return syscall(SYS_pwrite64, fd, bytes, count, offset);
  pthread_mutex_lock(&order);
  put(WRITE, path, (uint64_t)offset, bytes, count);
  ssize_t result = syscall(SYS_pwrite64, fd, bytes, count, offset);
  pthread_mutex_unlock(&order);
  return result;
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) { return pwrite64(fd, bytes, count, offset); }

ssize_t write(int fd, const void *bytes, size_t count) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return syscall(SYS_write, fd, bytes, count);
  pthread_mutex_lock(&order);
  put(WRITE, path, (uint64_t)lseek(fd, 0, SEEK_CUR), bytes, count);
  ssize_t result = syscall(SYS_write, fd, bytes, count);
  pthread_mutex_unlock(&order);
  return result;
}

int ftruncate64(int fd, off64_t size) {
  char path[PATH_MAX];
  if (!path_of(fd, path)) return (int)syscall(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&order);
  put(TRUNCATION, path, (uint64_t)size, NULL, 0);
  int result = (int)syscall(SYS_ftruncate, fd, size);
  pthread_mutex_unlock(&order);
  return result;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int synced(int fd, long call) {
  char path[PATH_MAX];
  int is_recorded = path_of(fd, path);
  pthread_mutex_lock(&order);
  int result = (int)syscall(call, fd);
  if (result == 0 && is_recorded) put(SYNC, path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_ours(from)) put(RENAME, from, 0, to, strlen(to));
  pthread_mutex_unlock(&order);
  return result;
}

int unlink(const char *path) {
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0 && is_ours(path)) put(REMOVAL, path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}
