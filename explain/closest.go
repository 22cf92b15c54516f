package explain

import (
	"cmp"
	"slices"

	"github.com/oxgang/oxgang/job"
)

// closest returns up to three of ids by their edit distance from id, then by
// name.
func closest(id job.ID, ids []job.ID) []job.ID {
	type near struct {
		id       job.ID
		distance int
	}
	all := make([]near, len(ids))
	for i, other := range ids {
		all[i] = near{other, distance(string(id), string(other))}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.distance-b.distance, cmp.Compare(a.id, b.id)) })
	var best []job.ID
	for _, n := range all[:min(3, len(all))] {
		best = append(best, n.id)
	}
	return best
}

// distance returns how many bytes must be inserted, deleted or replaced to
// make b of a. It takes time in the product of their lengths.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
