package command

import "testing"

// The heap may grow by 32 MiB, but by no less than half of what is live, nor by more than four times as much.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		live, most int64
		want       int
	}{
		{0, collectLess, 400},
		{1 << 20, collectLess, 400},
		{8 << 20, collectLess, 400},
		{16 << 20, collectLess, 200},
		{32 << 20, collectLess, 100},
		{64 << 20, collectLess, 50},
		{1 << 30, collectLess, 50},
	} {
		if got := growth(c.live, c.most); got != c.want {
			t.Errorf("%d live, at most %d %%: %d %%, want %d", c.live, c.most, got, c.want)
		}
	}
}
