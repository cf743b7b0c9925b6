#ifndef RAGD_RANK_H
#define RAGD_RANK_H

#include <stdint.h>

enum {
  RAGD_RANK_LENGTHS = 32,  // a rowid's low bits say the chunk's length, in this many steps
  RAGD_RANK_PHRASES = 1024,
  RAGD_RANK_CLAUSES = 128,
};

// ragd_rank_params is the head of the second argument of ragd_rank, in the
// machine's byte order; phrases × ragd_rank_phrase follow.
typedef struct {
  int32_t phrases, clauses;
  double k1;
  double weight_title, weight_headings, weight_body;
  double norm[RAGD_RANK_LENGTHS]; // 1 − b + b·length/average
} ragd_rank_params;

// ragd_rank_phrase belongs to the phrase of the same number in the MATCH
// expression. Weight 0: the phrase is not scored.
typedef struct {
  double weight; // idf × the clause's weight
  int32_t clause; // of several phrases with one clause the best counts
  int32_t pad;
} ragd_rank_phrase;

int ragd_rank_register(void);

#endif
