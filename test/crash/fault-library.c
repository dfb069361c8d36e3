/*
 * Loaded into a process before its C library (LD_PRELOAD): counts the calls that write to files of one folder, and does
 * something at one of them.
 *
 *   KEELSON_FAULT_FOLDER  the folder
 *   KEELSON_FAULT_AT      at which call, from 1; 0: never
 *   KEELSON_FAULT_DO      kill (before it), torn (half of it is written, then kill), after (kill once it is done),
 *                         or a number: this and the calls after it fail with that errno
 *   KEELSON_FAULT_CALLS   how many calls fail
 *   KEELSON_FAULT_TRACE   a file that gets every call: op u8 · u8 length of the name · u64 offset · u32 length · name · bytes
 *                         op: w write, d write that is durable when it returns (O_DSYNC), s sync, r rename and other names
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls;
static int trace = -1;
static __thread int inside;

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static const char *folder(void) { return getenv("KEELSON_FAULT_FOLDER"); }

static int below(const char *path) {
  const char *root = folder();
  return root != NULL && strncmp(path, root, strlen(root)) == 0;
}

static int watched(int fd, char *path) {
  char link[64];
  if (inside || folder() == NULL || fd == trace) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return below(path);
}

static void put(const void *bytes, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  if (real(trace, bytes, length) < 0) abort();
}

static void tell(char op, const char *path, uint64_t offset, const struct iovec *parts, int count) {
  const char *file = getenv("KEELSON_FAULT_TRACE");
  if (file == NULL) return;
  inside = 1;
  if (trace < 0) trace = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const char *name = strrchr(path, '/') + 1;
  uint8_t name_length = (uint8_t)strlen(name);
  uint32_t length = 0;
  for (int i = 0; i < count; i++) length += (uint32_t)parts[i].iov_len;
  put(&op, 1);
  put(&name_length, 1);
  put(&offset, 8);
  put(&length, 4);
  put(name, name_length);
  for (int i = 0; i < count; i++) put(parts[i].iov_base, parts[i].iov_len);
  inside = 0;
}

static void end(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* What is to be done at this call: 0 nothing, -1 after, -2 torn, else the errno to fail with. Does not return from kill. */
static int fault(void) {
  const char *at = getenv("KEELSON_FAULT_AT"), *what = getenv("KEELSON_FAULT_DO"), *many = getenv("KEELSON_FAULT_CALLS");
  long first = at == NULL ? 0 : atol(at), now = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (first == 0 || what == NULL) return 0;
  if (strcmp(what, "kill") == 0) {
    if (now == first) end();
    return 0;
  }
  if (strcmp(what, "after") == 0) return now == first ? -1 : 0;
  if (strcmp(what, "torn") == 0) return now == first ? -2 : 0;
  return now >= first && now < first + (many == NULL ? 1 : atol(many)) ? atoi(what) : 0;
}

static ssize_t written(int fd, const struct iovec *parts, int count, off64_t offset, const char *path) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off64_t);
  static ssize_t (*plain)(int, const struct iovec *, int);
  if (plain == NULL) plain = (ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  pthread_mutex_lock(&lock);
  int what = fault();
  if (what > 0) {
    pthread_mutex_unlock(&lock);
    errno = what;
    return -1;
  }
  if (what == -2) {
    struct iovec half = {parts[0].iov_base, parts[0].iov_len / 2};
    if (offset < 0) plain(fd, &half, 1);
    else real(fd, &half, 1, offset);
    end();
  }
  /* LMDB also seeks and then writes. */
  off64_t position = offset < 0 ? lseek64(fd, 0, SEEK_CUR) : offset;
  ssize_t done = offset < 0 ? plain(fd, parts, count) : real(fd, parts, count, offset);
  if (what == -1) end();
  if (done >= 0) tell(fcntl(fd, F_GETFL) & O_DSYNC ? 'd' : 'w', path, (uint64_t)position, parts, count);
  pthread_mutex_unlock(&lock);
  return done;
}

#define PWRITE(name, type) \
  ssize_t name(int fd, const void *bytes, size_t length, type offset) { \
    char path[PATH_MAX]; \
    struct iovec part = {(void *)bytes, length}; \
    if (watched(fd, path)) return written(fd, &part, 1, offset, path); \
    REAL(ssize_t, #name, int, const void *, size_t, type); \
    return real(fd, bytes, length, offset); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define PWRITEV(name, type) \
  ssize_t name(int fd, const struct iovec *parts, int count, type offset) { \
    char path[PATH_MAX]; \
    if (watched(fd, path)) return written(fd, parts, count, offset, path); \
    REAL(ssize_t, #name, int, const struct iovec *, int, type); \
    return real(fd, parts, count, offset); \
  }
PWRITEV(pwritev, off_t)
PWRITEV(pwritev64, off64_t)

ssize_t write(int fd, const void *bytes, size_t length) {
  char path[PATH_MAX];
  struct iovec part = {(void *)bytes, length};
  if (watched(fd, path)) return written(fd, &part, 1, -1, path);
  REAL(ssize_t, "write", int, const void *, size_t);
  return real(fd, bytes, length);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  if (watched(fd, path)) return written(fd, parts, count, -1, path);
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  return real(fd, parts, count);
}

/* A call without bytes: a sync, or one that changes a name or a size. */
#define PLAIN(op, path, call) \
  pthread_mutex_lock(&lock); \
  int what = fault(); \
  if (what > 0) { \
    pthread_mutex_unlock(&lock); \
    errno = what; \
    return -1; \
  } \
  if (what == -2) end(); \
  int result = call; \
  if (what == -1) end(); \
  if (result == 0) tell(op, path, 0, NULL, 0); \
  pthread_mutex_unlock(&lock); \
  return result

#define SYNC(name) \
  int name(int fd) { \
    char path[PATH_MAX]; \
    REAL(int, #name, int); \
    if (!watched(fd, path)) return real(fd); \
    PLAIN('s', path, real(fd)); \
  }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, type) \
  int name(int fd, type length) { \
    char path[PATH_MAX]; \
    REAL(int, #name, int, type); \
    if (!watched(fd, path)) return real(fd, length); \
    PLAIN('r', path, real(fd, length)); \
  }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define NAMES(name) \
  int name(const char *from, const char *to) { \
    REAL(int, #name, const char *, const char *); \
    if (inside || !below(to)) return real(from, to); \
    PLAIN('r', to, real(from, to)); \
  }
NAMES(rename)
NAMES(link)

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  if (inside || !below(path)) return real(path);
  PLAIN('r', path, real(path));
}
