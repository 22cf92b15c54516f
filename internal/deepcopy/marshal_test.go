package deepcopy

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"time"
)

type cache struct{ hits int }

type run struct {
	tree     *tree
	when     time.Time
	never    time.Time
	byLeaf   map[*leaf]float64
	rate     float64
	small    int8
	less     func(int) bool
	cache    *cache
	any      any
	nothing  []int
	none     []int
	fixed    [2]leaf
	ofFixed  *leaf
	inArray  []leaf
	instants map[string]time.Time
}

func ran(c *cache) *run {
	t := grown()
	t.any = nil
	r := &run{tree: t, when: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600)), rate: -0.1, small: -3, cache: c, any: t.iface, none: []int{}}
	r.byLeaf = map[*leaf]float64{t.one: 1, {5}: 2, {4}: 3, &t.whole[0]: 4}
	r.less = func(n int) bool { return n < 3 }
	r.ofFixed, r.inArray = &r.fixed[1], r.fixed[:]
	r.fixed[0].n = 11
	r.instants = map[string]time.Time{"a": r.when}
	return r
}

// What was written is the same when it is read into another process's value: the same numbers, and the same
// objects where two ways led to one.
func TestFormat(t *testing.T) {
	was, fresh := ran(&cache{1}), &run{less: func(n int) bool { return n < 4 }, any: &leaf{}}
	data, err := NewFormat(was, []any{was.cache}).Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again := ran(&cache{2})
		if more, err := NewFormat(again, []any{again.cache}).Marshal(again); err != nil || !bytes.Equal(data, more) {
			t.Fatalf("equal values gave other bytes, %v", err)
		}
	}
	own := &cache{7}
	if _, err := NewFormat(fresh, []any{own}, t).Unmarshal(data); !errors.Is(err, ErrOtherFormat) {
		t.Errorf("of a format with other types: %v", err)
	}
	read, err := NewFormat(fresh, []any{own}).Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	now := read.(*run)
	if now.tree.ring != now.tree || now.tree.part[0] != now.tree.whole[1] || &now.tree.part[0] != &now.tree.whole[1] || now.tree.field != &now.tree.one.n {
		t.Error("what was one object is not")
	}
	if now.byLeaf[now.tree.one] != 1 || now.byLeaf[&now.tree.whole[0]] != 4 || len(now.byLeaf) != 4 || now.any != now.tree.iface {
		t.Errorf("got %v", now.byLeaf)
	}
	if !now.when.Equal(was.when) || !now.never.IsZero() || !now.instants["a"].Equal(was.when) || now.rate != -0.1 || now.small != -3 || now.cache != own {
		t.Errorf("got %+v", now)
	}
	if now.nothing != nil || now.none == nil || now.ofFixed != &now.fixed[1] || &now.inArray[1] != now.ofFixed || now.fixed[0].n != 11 {
		t.Errorf("got %+v", now)
	}
	if !now.less(3) || reflect.ValueOf(now.tree.named).Len() != 2 {
		t.Error("the function is not that of the format's own value")
	}
}

// Bytes that no Format wrote are refused, and nothing panics or leads out of its memory.
func FuzzUnmarshal(f *testing.F) {
	was := ran(&cache{1})
	format := NewFormat(was, []any{was.cache})
	data, err := format.Marshal(was)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[len(format.sum):])
	for i := range len(data) - len(format.sum) {
		changed := bytes.Clone(data[len(format.sum):])
		changed[i] ^= byte(1 + i%255)
		f.Add(changed)
		f.Add(changed[:i])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		now, err := format.Unmarshal(append(bytes.Clone(format.sum[:]), data...))
		if err != nil {
			return
		}
		if _, err := format.Marshal(now); err != nil {
			t.Logf("read, and cannot be written: %v", err)
		}
	})
}

func TestFormat_says_what_it_cannot_write(t *testing.T) {
	for name, v := range map[string]any{
		"function": &run{less: func(int) bool { return true }},
		"type":     &run{any: struct{ n int }{}},
		"channel":  &struct{ c chan int }{make(chan int)},
	} {
		f := NewFormat(reflect.New(reflect.TypeOf(v).Elem()).Interface(), nil)
		if data, err := f.Marshal(v); err == nil {
			t.Errorf("%s: wrote %d bytes", name, len(data))
		}
	}
}

// Times and durations behind slices and pointers are written, too.
func TestFormat_of_times(t *testing.T) {
	type times struct {
		gaps []time.Duration
		at   []time.Time
		last *time.Time
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	was := &times{[]time.Duration{time.Second, 2}, []time.Time{when, when.Add(1)}, nil}
	was.last = &was.at[1]
	data, err := NewFormat(was, nil).Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	root, err := NewFormat(&times{}, nil).Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	got := root.(*times)
	if !reflect.DeepEqual(was, got) || got.last != &got.at[1] {
		t.Errorf("got %+v, want %+v", got, was)
	}
}
