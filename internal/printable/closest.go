package printable

import (
	"cmp"
	"slices"
)

// Closest returns the up to three names that are most similar to name, by edit distance.
func Closest[S ~string](name S, names []S) []S {
	type near struct {
		name     S
		distance int
	}
	all := make([]near, len(names))
	for i, other := range names {
		all[i] = near{other, distance(string(name), string(other))}
	}
	slices.SortFunc(all, func(a, b near) int { return cmp.Or(a.distance-b.distance, cmp.Compare(a.name, b.name)) })
	var best []S
	for _, n := range all[:min(3, len(all))] {
		best = append(best, n.name)
	}
	return best
}

// Meant returns up to three names that the user may have meant by name: at most a third of the letters differ.
func Meant[S ~string](name S, names []S) []S {
	return slices.DeleteFunc(Closest(name, names), func(other S) bool { return 3*distance(string(name), string(other)) > len(name) })
}

func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
