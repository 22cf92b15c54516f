package deepcopy

import (
	"reflect"
	"testing"
)

type leaf struct{ n int }

type tree struct {
	whole  []leaf
	part   []leaf // of whole
	one    *leaf  // of whole
	field  *int   // of one
	named  map[string]*leaf
	any    any
	ring   *tree
	common *shared
	twice  map[string]*leaf // named
	iface  interface{ value() int }
}

type shared struct{ n int }

func (l *leaf) value() int { return l.n }

func grown() *tree {
	t := &tree{whole: make([]leaf, 3, 5), common: &shared{1}}
	t.part, t.one = t.whole[1:2], &t.whole[2]
	t.field = &t.one.n
	t.named = map[string]*leaf{"a": t.one, "b": {7}}
	t.twice, t.any, t.ring, t.iface = t.named, map[int][]int{1: {2}}, t, t.named["b"]
	return t
}

func isShared(t reflect.Type) bool { return t == reflect.TypeFor[shared]() }

func TestACopyIsTheSameAndApart(t *testing.T) {
	was := grown()
	now, err := Of(was, isShared)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(was, now) {
		t.Fatalf("got %+v, want %+v", now, was)
	}
	*now.field = 9
	if now.whole[2].n != 9 || now.named["a"].n != 9 || now.twice["a"] != now.named["a"] {
		t.Error("a pointer into a slice leads elsewhere in the copy")
	}
	now.part[0].n = 8
	if now.whole[1].n != 8 || cap(now.part) != cap(was.part) {
		t.Error("two slices of an array are not so in the copy")
	}
	if now.ring != now || now.common != was.common || now.iface.value() != 7 {
		t.Errorf("ring %p of %p, common %p of %p", now.ring, now, now.common, was.common)
	}
	now.any.(map[int][]int)[1][0] = 5
	now.iface.(*leaf).n = 6
	now.named["c"] = &leaf{}
	if now.twice["c"] == nil {
		t.Error("two names of one map are two maps in the copy")
	}
	if !reflect.DeepEqual(was, grown()) {
		t.Error("what changed the copy changed the original")
	}
}

func TestOverlapsAreFound(t *testing.T) {
	all := make([]int, 6)
	now, err := Of([][]int{all[0:3:4], all[2:6]}, isShared)
	if err != nil {
		t.Fatal(err)
	}
	if now[0][2] = 3; now[1][0] != 3 || all[2] != 0 {
		t.Errorf("got %v, want two slices of one array, apart from %v", now, all)
	}
}

// What is noted of the memory that is copied takes little beside it: a scheduler copies the state of its policy while it looks ahead.
func TestACopyTakesLittle(t *testing.T) {
	all := make([]*tree, 1000)
	for i := range all {
		all[i] = &tree{whole: make([]leaf, 8), one: &leaf{i}}
		all[i].part = all[i].whole
	}
	allocations := testing.AllocsPerRun(3, func() {
		if _, err := Of(all, isShared); err != nil {
			t.Fatal(err)
		}
	})
	if regions := 3 * float64(len(all)); allocations > 2*regions {
		t.Errorf("%.0f allocations for %.0f regions, want two for each at most", allocations, regions)
	}
}
