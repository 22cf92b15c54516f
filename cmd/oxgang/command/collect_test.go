package command

import (
	"runtime"
	"testing"
)

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

// Memory goes back where what is free is more than the heap grows by until the next collection, and than that and what is
// live: all arrivals of a run before it begins, but not what a collection leaves as a rule.
func TestExcess(t *testing.T) {
	for _, c := range []struct {
		live, free int64
		want       bool
	}{
		{1 << 20, 32 << 20, false},
		{64 << 20, 32 << 20, false},
		{64 << 20, 96 << 20, false},
		{64 << 20, 97 << 20, true},
		{83 << 20, 560 << 20, true},
		{500 << 20, 700 << 20, false},
		{500 << 20, 751 << 20, true},
	} {
		if got := excess(c.live, c.free); got != c.want {
			t.Errorf("%d live, %d free: %t, want %t", c.live, c.free, got, c.want)
		}
	}
}

// What was allocated and is garbage is given back after the collection that finds it.
func TestAfterCollection_gives_memory_back(t *testing.T) {
	garbage = make([]byte, 1<<30)
	t.Logf("%d bytes of garbage", len(garbage))
	garbage = nil
	runtime.GC()
	if live, free := heap(); !excess(live, free) {
		t.Fatalf("%d live, %d free: no excess to begin with", live, free)
	}
	afterCollection(new(mark))
	if live, free := heap(); excess(live, free) {
		t.Errorf("%d live, %d free", live, free)
	}
}

// garbage is what the compiler may not leave out.
var garbage []byte
