package cluster

import "testing"

func TestLoanable(t *testing.T) {
	for _, c := range []struct {
		nodes          int
		headroom, need float64
		want           int
	}{
		{520, 0.02, 0, 509}, {520, 0.02, 0.5, 249}, {520, 0.02, 0.98, 0}, {520, 0.02, 1, 0}, // Lyra §7.1
		{4, 0.02, 0, 3}, {4, 0, 0, 4}, {4, 0, 0.25, 3}, {4, 0, 0.26, 2}, // a part of a node is a whole one
		{10, 0.1, 0.7, 2}, {10, 1, 0, 0}, {0, 0, 0, 0}, // whatever products of shares are rounded to
	} {
		if got := Loanable(c.nodes, c.headroom, c.need); got != c.want {
			t.Errorf("%d nodes, headroom %v, need %v: %d, want %d", c.nodes, c.headroom, c.need, got, c.want)
		}
	}
}
