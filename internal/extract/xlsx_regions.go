package extract

import (
	"sort"
	"strconv"
	"strings"
)

const regionCellsMax = 300_000 // filled cells of a sheet that is taken apart into tables

// region is a rectangle of a sheet, ends included.
type region struct{ top, left, bottom, right int }

func (r region) touches(o region) bool {
	return r.left <= o.right+1 && o.left <= r.right+1 && r.top <= o.bottom+1 && o.top <= r.bottom+1
}

func (r region) join(o region) region {
	return region{min(r.top, o.top), min(r.left, o.left), max(r.bottom, o.bottom), max(r.right, o.right)}
}

// findRegions takes a sheet apart into its tables: filled cells that touch,
// also by a corner, belong together. Parts side by side with the same rows
// are one table with an empty column in it; a part below another with the
// same columns goes on with its table unless it begins with a header.
func findRegions(grid [][]string) []region {
	var done, open []region
	for y, row := range grid {
		for _, run := range filledRuns(row) {
			cell := region{y, run[0], y, run[1]}
			kept := open[:0]
			for _, o := range open {
				if o.touches(cell) {
					cell = cell.join(o)
				} else {
					kept = append(kept, o)
				}
			}
			open = append(kept, cell)
		}
		kept := open[:0]
		for _, o := range open {
			if o.bottom < y {
				done = append(done, o)
			} else {
				kept = append(kept, o)
			}
		}
		open = kept
	}
	done = append(done, open...)
	sortRegions(done)
	done = joinRegions(done, func(a, b region) bool {
		return a.touches(b) || a.top == b.top && a.bottom == b.bottom
	})
	return joinRegions(done, func(a, b region) bool {
		return a.left == b.left && a.right == b.right && a.bottom < b.top && hasNumber(grid[b.top])
	})
}

func sortRegions(r []region) {
	sort.Slice(r, func(i, j int) bool {
		if r[i].top != r[j].top {
			return r[i].top < r[j].top
		}
		return r[i].left < r[j].left
	})
}

// joinRegions joins pairs until none is left to join. Many regions are left
// as they are.
func joinRegions(r []region, joins func(a, b region) bool) []region {
	if len(r) > 1000 {
		return r
	}
	for again := true; again; {
		again = false
		for i := 0; i < len(r); i++ {
			for j := i + 1; j < len(r); j++ {
				if joins(r[i], r[j]) || joins(r[j], r[i]) {
					r[i] = r[i].join(r[j])
					r = append(r[:j], r[j+1:]...)
					j--
					again = true
				}
			}
		}
	}
	sortRegions(r)
	return r
}

// filledRuns lists the first and last column of each run of filled cells.
func filledRuns(row []string) [][2]int {
	var runs [][2]int
	for x, c := range row {
		if strings.TrimSpace(c) == "" {
			continue
		}
		if n := len(runs); n > 0 && runs[n-1][1] == x-1 {
			runs[n-1][1] = x
		} else {
			runs = append(runs, [2]int{x, x})
		}
	}
	return runs
}

func hasNumber(row []string) bool {
	for _, c := range row {
		if _, err := strconv.ParseFloat(strings.ReplaceAll(strings.Trim(c, "$€£% "), ",", ""), 64); err == nil {
			return true
		}
	}
	return false
}

// cut returns the rows of a region.
func (r region) cut(grid [][]string) [][]string {
	rows := make([][]string, 0, r.bottom-r.top+1)
	for y := r.top; y <= r.bottom && y < len(grid); y++ {
		row := grid[y]
		if len(row) <= r.left {
			rows = append(rows, nil)
			continue
		}
		rows = append(rows, row[r.left:min(r.right+1, len(row))])
	}
	return rows
}
