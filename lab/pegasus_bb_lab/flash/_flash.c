/* A page-mapped flash translation layer with k streams, and the files that a host
   writes on it.

   Optional: kernel.py loads this through ctypes where it was built; plain.py does the
   same, to the page. Every stream has two open blocks, one for the host and one for the
   pages that garbage collection copies. The victim is the closed block with the fewest
   valid pages. The caller has checked that a victim with an invalid page always exists
   (geometry.py). */
#include <stdint.h>
#include <stdlib.h>

#define VERSION 1
#define NONE (-1)
#define RESERVE 1 /* free blocks that only garbage collection may take */

struct flash {
  int32_t blocks, pages, logical, streams, trim; /* pages: of one block */
  int32_t *place, *holds; /* logical page -> physical, and back; NONE */
  int32_t *valid, *owner; /* of a block: its valid pages, its stream */
  int32_t *closed;        /* of a block: it is in the list of its valid pages */
  int32_t *head, *next, *previous, least; /* lists of closed blocks by valid pages */
  int32_t *empty, empties;                /* erased blocks, a stack */
  int32_t *open, *used; /* of a frontier: 2 s the host's, 2 s + 1 the collection's */
  int32_t *first, *after; /* of a file its last page; of a page the one before */
  int32_t *unused, unused_at, unuseds; /* logical pages of no file, oldest first */
  int64_t *host, *nand, erased, refused;
};

int flash_version(void) { return VERSION; }

void flash_free(struct flash *f) {
  if (f == NULL) return;
  free(f->place), free(f->holds), free(f->valid), free(f->owner), free(f->closed);
  free(f->head), free(f->next), free(f->previous), free(f->empty), free(f->open);
  free(f->used), free(f->first), free(f->after), free(f->unused);
  free(f->host), free(f->nand), free(f);
}

static int32_t *filled(int64_t count, int32_t value, int *missing) {
  int32_t *found = malloc((count + 1) * sizeof *found);
  if (found == NULL) *missing = 1;
  for (int64_t i = 0; found != NULL && i < count; i++) found[i] = value;
  return found;
}

/* NULL without memory. */
struct flash *flash_new(int32_t blocks, int32_t pages, int32_t logical,
                        int32_t streams, int32_t trim, int32_t files) {
  int missing = 0;
  struct flash *f = calloc(1, sizeof *f);
  if (f == NULL) return NULL;
  f->blocks = blocks, f->pages = pages, f->logical = logical;
  f->streams = streams, f->trim = trim, f->least = pages;
  f->place = filled(logical, NONE, &missing);
  f->holds = filled((int64_t)blocks * pages, NONE, &missing);
  f->valid = filled(blocks, 0, &missing);
  f->owner = filled(blocks, 0, &missing);
  f->closed = filled(blocks, 0, &missing);
  f->head = filled(pages + 1, NONE, &missing);
  f->next = filled(blocks, NONE, &missing);
  f->previous = filled(blocks, NONE, &missing);
  f->empty = filled(blocks, 0, &missing);
  f->open = filled(2 * streams, NONE, &missing);
  f->used = filled(2 * streams, 0, &missing);
  f->first = filled(files, NONE, &missing);
  f->after = filled(logical, NONE, &missing);
  f->unused = filled(logical, 0, &missing);
  f->host = calloc(streams, sizeof *f->host);
  f->nand = calloc(streams, sizeof *f->nand);
  if (missing || f->host == NULL || f->nand == NULL) {
    flash_free(f);
    return NULL;
  }
  for (int32_t i = 0; i < blocks; i++) f->empty[i] = blocks - 1 - i;
  for (int32_t i = 0; i < logical; i++) f->unused[i] = i;
  f->empties = blocks, f->unuseds = logical;
  return f;
}

static void enlist(struct flash *f, int32_t block) {
  int32_t valid = f->valid[block], next = f->head[valid];
  f->next[block] = next, f->previous[block] = NONE;
  if (next != NONE) f->previous[next] = block;
  f->head[valid] = block;
  if (valid < f->least) f->least = valid;
}

static void delist(struct flash *f, int32_t block) {
  int32_t next = f->next[block], previous = f->previous[block];
  if (next != NONE) f->previous[next] = previous;
  if (previous != NONE) f->next[previous] = next;
  else f->head[f->valid[block]] = next;
}

static void invalidate(struct flash *f, int32_t logical) {
  int32_t physical = f->place[logical], block;
  if (physical == NONE) return;
  block = physical / f->pages;
  f->place[logical] = f->holds[physical] = NONE;
  if (f->closed[block]) delist(f, block);
  f->valid[block]--;
  if (f->closed[block]) enlist(f, block);
}

static void put(struct flash *f, int32_t logical, int32_t frontier) {
  int32_t block = f->open[frontier], physical;
  if (block == NONE) {
    block = f->open[frontier] = f->empty[--f->empties];
    f->owner[block] = frontier / 2;
    f->used[frontier] = 0;
  }
  physical = block * f->pages + f->used[frontier]++;
  f->place[logical] = physical, f->holds[physical] = logical;
  f->valid[block]++;
  f->nand[frontier / 2]++;
  if (f->used[frontier] < f->pages) return;
  f->closed[block] = 1;
  enlist(f, block);
  f->open[frontier] = NONE;
}

static void collect(struct flash *f) {
  int32_t block, physical;
  while (f->head[f->least] == NONE) f->least++;
  block = f->head[f->least];
  delist(f, block);
  physical = block * f->pages;
  for (int32_t left = f->valid[block]; left > 0; physical++) {
    int32_t logical = f->holds[physical];
    if (logical == NONE) continue;
    f->holds[physical] = NONE;
    put(f, logical, 2 * f->owner[block] + 1);
    left--;
  }
  f->valid[block] = f->closed[block] = 0;
  f->empty[f->empties++] = block;
  f->erased++;
}

static void write_page(struct flash *f, int32_t logical, int32_t stream) {
  invalidate(f, logical);
  if (f->open[2 * stream] == NONE)
    while (f->empties <= RESERVE) collect(f);
  put(f, logical, 2 * stream);
  f->host[stream]++;
}

/* Write logical pages, new ones or not. */
void flash_overwrite(struct flash *f, const int32_t *logicals, int64_t count,
                     int32_t stream) {
  for (int64_t i = 0; i < count; i++) write_page(f, logicals[i], stream);
}

static void append(struct flash *f, int32_t file, int32_t stream) {
  int32_t logical;
  if (f->unuseds == 0) {
    f->refused++;
    return;
  }
  logical = f->unused[f->unused_at];
  if (++f->unused_at == f->logical) f->unused_at = 0;
  f->unuseds--;
  f->after[logical] = f->first[file];
  f->first[file] = logical;
  write_page(f, logical, stream);
}

static void discard(struct flash *f, int32_t file) {
  for (int32_t each = f->first[file]; each != NONE; each = f->after[each]) {
    int64_t at = (int64_t)f->unused_at + f->unuseds++;
    f->unused[at < f->logical ? at : at - f->logical] = each;
    if (f->trim) invalidate(f, each);
  }
  f->first[file] = NONE;
}

/* An event n >= 0 writes ``unit`` pages to file n; n < 0 deletes file -n - 1. */
void flash_replay(struct flash *f, const int32_t *events, int64_t count,
                  const uint8_t *streams, int32_t unit) {
  for (int64_t i = 0; i < count; i++) {
    int32_t event = events[i];
    if (event < 0) discard(f, -event - 1);
    else
      for (int32_t j = 0; j < unit; j++) append(f, event, streams[event]);
  }
}

/* Erased blocks, refused pages, then host pages and flash pages of each stream. */
void flash_counters(const struct flash *f, int64_t *found) {
  *found++ = f->erased;
  *found++ = f->refused;
  for (int32_t i = 0; i < f->streams; i++) *found++ = f->host[i];
  for (int32_t i = 0; i < f->streams; i++) *found++ = f->nand[i];
}

/* The map, for tests: where each logical page is, and each block's valid pages. */
void flash_state(const struct flash *f, int32_t *place, int32_t *valid) {
  for (int32_t i = 0; i < f->logical; i++) place[i] = f->place[i];
  for (int32_t i = 0; i < f->blocks; i++) valid[i] = f->valid[i];
}
