package config

import "strings"

// nearestKey returns the setting whose name is most like s, or "" when none is.
func nearestKey(s string) string {
	best, bestDist := "", 4
	consider := func(name string) {
		if d := distance(strings.ToLower(s), name, bestDist); d < bestDist {
			best, bestDist = name, d
		}
	}
	for _, k := range Keys() {
		consider(k.Name)
		if strings.EqualFold(k.Env, s) || strings.ReplaceAll(k.Name, ".", "_") == s {
			return k.Name
		}
	}
	for _, f := range fields() {
		consider(f.Name)
	}
	return best
}

// distance is the Levenshtein distance, or most when it is at least that.
func distance(a, b string, most int) int {
	if len(a) > 64 || len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return min(row[len(b)], most)
}
