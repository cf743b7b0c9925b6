// The ranking function ragd_rank(table, params) for FTS5.
//
// It scores one row by BM25F from weights that are handed in, so that nothing
// is counted here: FTS5's own bm25() walks the whole doclist of every phrase
// once per query, which is what makes questions with common words slow. The
// length of a chunk comes from the low bits of its rowid, which spares a
// look-up per row.
//
// The declarations below are those few of SQLite's public C interface that are
// needed; the symbols are in the driver's copy of SQLite in the same binary.

#include <stddef.h>
#include <string.h>

#include "rank.h"

typedef long long int64;
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_value sqlite3_value;
typedef struct Fts5Context Fts5Context;
typedef struct Fts5PhraseIter {
  const unsigned char *a;
  const unsigned char *b;
} Fts5PhraseIter;

// Weak, so that a link without the driver does not fail; ragd_rank_register
// says whether they are there.
#define IMPORT extern __attribute__((weak))
IMPORT int sqlite3_config(int, ...);
IMPORT int sqlite3_db_config(sqlite3 *, int, ...);
IMPORT int sqlite3_auto_extension(void (*entry)(void));
IMPORT int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
IMPORT int sqlite3_bind_pointer(sqlite3_stmt *, int, void *, const char *, void (*)(void *));
IMPORT int sqlite3_step(sqlite3_stmt *);
IMPORT int sqlite3_finalize(sqlite3_stmt *);
IMPORT const void *sqlite3_value_blob(sqlite3_value *);
IMPORT int sqlite3_value_bytes(sqlite3_value *);
IMPORT void sqlite3_result_double(sqlite3_context *, double);
IMPORT void sqlite3_result_error(sqlite3_context *, const char *, int);
IMPORT void sqlite3_result_error_code(sqlite3_context *, int);

// The extension interface of FTS5, version 2 and later; members that are not
// called are plain pointers.
typedef struct Fts5ExtensionApi {
  int iVersion;
  void *xUserData, *xColumnCount, *xRowCount, *xColumnTotalSize, *xTokenize;
  int (*xPhraseCount)(Fts5Context *);
  void *xPhraseSize, *xInstCount, *xInst;
  int64 (*xRowid)(Fts5Context *);
  void *xColumnText, *xColumnSize, *xQueryPhrase, *xSetAuxdata, *xGetAuxdata;
  int (*xPhraseFirst)(Fts5Context *, int, Fts5PhraseIter *, int *, int *);
  void (*xPhraseNext)(Fts5Context *, Fts5PhraseIter *, int *, int *);
} Fts5ExtensionApi;

typedef void (*fts5_extension_function)(const Fts5ExtensionApi *, Fts5Context *, sqlite3_context *, int, sqlite3_value **);

typedef struct fts5_api fts5_api;
struct fts5_api {
  int iVersion;
  void *xCreateTokenizer, *xFindTokenizer;
  int (*xCreateFunction)(fts5_api *, const char *, void *, fts5_extension_function, void (*)(void *));
};

enum { SQLITE_OK = 0, SQLITE_ERROR = 1, SQLITE_CONFIG_MEMSTATUS = 9, SQLITE_DBCONFIG_ENABLE_QPSG = 1007 };
enum { COL_BODY = 0, COL_TITLE = 1, COL_HEADINGS = 2, COLUMNS = 4 };
enum { MAX_POSITIONS = 4096 }; // of one phrase in one row; more add nothing to a saturated score

// phrase_score is the saturated, weighted frequency of phrase i in this row.
static int phrase_score(const Fts5ExtensionApi *api, Fts5Context *fts, int i,
                        const ragd_rank_params *p, double norm, double *out) {
  Fts5PhraseIter it;
  int col = -1, off = 0, n = 0, rc;
  int count[COLUMNS] = {0, 0, 0, 0};
  double tf;
  *out = 0;
  rc = api->xPhraseFirst(fts, i, &it, &col, &off);
  if (rc != SQLITE_OK) return rc;
  for (; col >= 0 && n < MAX_POSITIONS; n++) {
    if (col < COLUMNS) count[col]++;
    api->xPhraseNext(fts, &it, &col, &off);
  }
  tf = p->weight_title * count[COL_TITLE] + p->weight_headings * count[COL_HEADINGS] +
       p->weight_body * count[COL_BODY] / norm;
  if (tf > 0) *out = tf * (p->k1 + 1) / (tf + p->k1);
  return SQLITE_OK;
}

static void rank(const Fts5ExtensionApi *api, Fts5Context *fts, sqlite3_context *ctx, int nval, sqlite3_value **val) {
  ragd_rank_params p;
  ragd_rank_phrase ph;
  double best[RAGD_RANK_CLAUSES], sum = 0, norm, s;
  const char *blob;
  int size, i, n, rc;

  if (nval != 1 || (blob = sqlite3_value_blob(val[0])) == NULL ||
      (size = sqlite3_value_bytes(val[0])) < (int)sizeof p) {
    sqlite3_result_error(ctx, "ragd_rank: parameters are missing", -1);
    return;
  }
  memcpy(&p, blob, sizeof p);
  if (p.phrases < 0 || p.phrases > RAGD_RANK_PHRASES || p.clauses < 0 || p.clauses > RAGD_RANK_CLAUSES ||
      (size_t)size != sizeof p + (size_t)p.phrases * sizeof ph) {
    sqlite3_result_error(ctx, "ragd_rank: parameters are malformed", -1);
    return;
  }
  for (i = 0; i < p.clauses; i++) best[i] = 0;
  norm = p.norm[api->xRowid(fts) & (RAGD_RANK_LENGTHS - 1)];
  if (!(norm > 0)) norm = 1;
  n = api->xPhraseCount(fts);
  if (n > p.phrases) n = p.phrases;
  for (i = 0; i < n; i++) {
    memcpy(&ph, blob + sizeof p + (size_t)i * sizeof ph, sizeof ph);
    if (!(ph.weight > 0) || ph.clause < 0 || ph.clause >= p.clauses) continue;
    rc = phrase_score(api, fts, i, &p, norm, &s);
    if (rc != SQLITE_OK) {
      sqlite3_result_error_code(ctx, rc);
      return;
    }
    s *= ph.weight;
    if (s > best[ph.clause]) best[ph.clause] = s;
  }
  for (i = 0; i < p.clauses; i++) sum += best[i];
  sqlite3_result_double(ctx, sum);
}

// extend is called by SQLite for every connection that is opened. A SQLite
// without FTS5 is left as it is.
static int extend(sqlite3 *db, char **err, const void *routines) {
  sqlite3_stmt *stmt = NULL;
  fts5_api *api = NULL;
  int rc;
  (void)err;
  (void)routines;
  // The driver clears the bindings before every run, which makes SQLite compile
  // a statement anew whose plan might depend on a bound value. Plans that do
  // not look at values are made once.
  if (sqlite3_db_config) sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, (int *)0);
  if (sqlite3_prepare_v2(db, "SELECT fts5(?1)", -1, &stmt, NULL) != SQLITE_OK) return SQLITE_OK;
  sqlite3_bind_pointer(stmt, 1, (void *)&api, "fts5_api_ptr", NULL);
  sqlite3_step(stmt);
  rc = sqlite3_finalize(stmt);
  if (rc != SQLITE_OK || api == NULL || api->iVersion < 2) return SQLITE_OK;
  return api->xCreateFunction(api, "ragd_rank", NULL, rank, NULL);
}

int ragd_rank_register(void) {
  if (!sqlite3_auto_extension || !sqlite3_prepare_v2 || !sqlite3_bind_pointer) return SQLITE_ERROR;
  // Statistics of memory cost a lock at every allocation. Too late when a
  // connection is open already, which does no harm.
  if (sqlite3_config) sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return sqlite3_auto_extension((void (*)(void))extend);
}
