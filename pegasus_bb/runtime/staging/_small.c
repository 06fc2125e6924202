/* Many small files in one call: copied to temporary names, later renamed.

   Optional: helper.py loads this through ctypes where it was built and fits the node,
   and does the same in Python where not. No part of it calls the interpreter, so other
   threads go on. A file goes from one buffer into one file; the caller makes it
   durable between pbb_copy and pbb_rename. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VERSION 8
#define SETTLE INT64_C(50000000) /* ns; a file that changed since is not read yet */
#define EARLY (64 << 10) /* bytes of a file that is worth the call */
#ifndef F_SET_RW_HINT /* of an older libc */
#define F_SET_RW_HINT 1036
#endif
#define LONGEST 225 /* bytes of a name that a part keeps, as in parts.py */

enum step { DONE, SOURCE, NOT_A_FILE, CHANGED, PART, RENAME, SHORT };

struct task { /* "=iiQ" in helper.py; its two names are the next ones of ``names`` */
  int32_t from_folder, to_folder;
  uint64_t hint; /* as in hints.py; 0: none */
};

struct moment { /* in two: nanoseconds alone end in 2262 */
  int64_t seconds, ns;
};

struct state {
  uint64_t dev, ino;
  struct moment mtime, ctime;
};

struct result { /* "=iiqQQqqqqQQqqqq32s" in helper.py */
  int32_t step, error; /* of a file that is done: why it has not the mode of its source */
  int64_t size;
  struct state source, copy;
  unsigned char digest[32];
};

typedef unsigned char *sha256(const unsigned char *, size_t, unsigned char *);

int pbb_version(void) { return VERSION; }

static struct moment moment(struct timespec t) {
  struct moment at = {t.tv_sec, t.tv_nsec};
  return at;
}

static int same(struct timespec one, struct timespec other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}

static void note(struct state *state, const struct stat *found) {
  state->dev = found->st_dev;
  state->ino = found->st_ino;
  state->mtime = moment(found->st_mtim);
  state->ctime = moment(found->st_ctim);
}

static int fail(struct result *result, enum step step, int error) {
  result->step = step;
  result->error = error;
  return -1;
}

static const char *after(const char *name) { return name + strlen(name) + 1; }

static void part_of(const char *name, const char *tag, char *part) {
  size_t length = strlen(name);
  if (length > LONGEST) length = LONGEST;
  *part++ = '.';
  memcpy(part, name, length);
  part += length;
  *part++ = '.';
  strcpy(part, tag);
  strcat(part, ".part");
}

/* As onefile.py's: the time of a write is there before its bytes. */
static int settled(int source, struct stat *found) {
  struct timespec now, rest = {0, 0};
  int64_t seconds, age;
  if (fstat(source, found) != 0) return -1;
  clock_gettime(CLOCK_REALTIME, &now);
  seconds = (int64_t)now.tv_sec - found->st_ctim.tv_sec;
  if (seconds > 1 || seconds < -1) return 0;
  age = seconds * INT64_C(1000000000) + now.tv_nsec - found->st_ctim.tv_nsec;
  if (age >= SETTLE || age <= -SETTLE) return 0;
  rest.tv_nsec = SETTLE - age;
  nanosleep(&rest, NULL);
  return fstat(source, found);
}

/* The whole file in ``buffer``, which has room for one byte more than it may hold. */
static int take(int source, struct stat *before, char *buffer, size_t room,
                struct result *result) {
  struct stat after;
  size_t size = 0;
  if (settled(source, before) != 0) return fail(result, SOURCE, errno);
  if (!S_ISREG(before->st_mode)) return fail(result, NOT_A_FILE, 0);
  if ((uint64_t)before->st_size >= room) return fail(result, CHANGED, 0);
  for (;;) { /* one byte more is asked for, so that growing shows */
    ssize_t got = read(source, buffer + size, before->st_size + 1 - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(result, SOURCE, errno);
    size += got;
    if (size > (size_t)before->st_size) return fail(result, CHANGED, 0);
    if (got == 0 || size == (size_t)before->st_size) break;
  }
  if (fstat(source, &after) != 0) return fail(result, SOURCE, errno);
  if (size != (size_t)before->st_size || after.st_size != before->st_size ||
      !same(after.st_mtim, before->st_mtim) || /* programs can set back this one */
      !same(after.st_ctim, before->st_ctim))
    return fail(result, CHANGED, 0);
  result->size = size;
  note(&result->source, before);
  return 0;
}

static int fill(int out, const struct stat *source, const char *buffer, size_t size,
                struct result *result) {
  struct stat made;
  mode_t mode = source->st_mode & 0777;
  if (source->st_mode & S_ISVTX) mode |= 0200; /* closed to writing, for now */
  while (size > 0) {
    ssize_t put = write(out, buffer, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    buffer += put;
    size -= put;
  }
  if (source->st_size >= EARLY) /* or the kernel stops us for having too much unwritten */
    sync_file_range(out, 0, source->st_size, SYNC_FILE_RANGE_WRITE);
  if (fstat(out, &made) != 0) return -1; /* umask and default ACLs take bits away */
  if ((made.st_mode & 0777) != mode && fchmod(out, mode) != 0) result->error = errno;
  return 0;
}

static int give(const struct task *task, const char *part, const struct stat *source,
                const char *buffer, struct result *result) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, error = 0;
  /* Some file systems open a new file as if it were an old one: it has to be writable. */
  int out = openat(task->to_folder, part, flags, (source->st_mode & 0777) | 0200);
  if (out < 0) return fail(result, PART, errno);
  if (task->hint) fcntl(out, F_SET_RW_HINT, &task->hint); /* it only advises */
  if (fill(out, source, buffer, result->size, result) != 0) error = errno;
  if (close(out) != 0 && error == 0) error = errno; /* NFS tells of a full disk here */
  if (error == 0) return 0;
  unlinkat(task->to_folder, part, 0);
  return fail(result, PART, error);
}

/* Copy each file to the temporary name of its destination. ``names`` has two of each,
   of its source and of its destination. ``hash`` may be NULL. */
void pbb_copy(const char *names, const char *tag, const struct task *tasks,
              struct result *results, size_t count, int follow, sha256 *hash,
              size_t room) {
  int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  char part[LONGEST + 64], *buffer = malloc(room);
  for (size_t i = 0; i < count; i++, names = after(after(names))) {
    const struct task *task = tasks + i;
    struct result *result = results + i;
    struct stat before;
    /* Without a buffer errno is ENOMEM. */
    int source = buffer ? openat(task->from_folder, names, flags) : -1, taken;
    memset(result, 0, sizeof *result);
    if (source < 0) {
      fail(result, SOURCE, errno);
      continue;
    }
    taken = take(source, &before, buffer, room, result);
    close(source);
    if (taken != 0) continue;
    if (hash != NULL) hash((unsigned char *)buffer, result->size, result->digest);
    part_of(after(names), tag, part);
    give(task, part, &before, buffer, result);
  }
  free(buffer);
}

/* Give those that were copied their names; what they are then goes into the results. */
void pbb_rename(const char *names, const char *tag, const struct task *tasks,
                struct result *results, size_t count) {
  char part[LONGEST + 64];
  for (size_t i = 0; i < count; i++, names = after(after(names))) {
    const struct task *task = tasks + i;
    struct result *result = results + i;
    const char *name = after(names);
    struct stat now;
    if (result->step != DONE) continue;
    part_of(name, tag, part);
    if (renameat(task->to_folder, part, task->to_folder, name) != 0) {
      fail(result, RENAME, errno);
      unlinkat(task->to_folder, part, 0);
      continue;
    }
    if (fstatat(task->to_folder, name, &now, AT_SYMLINK_NOFOLLOW) != 0) {
      fail(result, RENAME, errno);
      continue;
    }
    if (now.st_size != result->size) {
      fail(result, SHORT, 0);
      continue;
    }
    note(&result->copy, &now);
  }
}
