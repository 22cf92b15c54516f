package memory_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
)

type name string

type leaf struct {
	n     int
	x     float64
	small float32
	on    bool
	kind  uint8
}

func (l *leaf) Remember(m *memory.Codec) { m.Fields(&l.n, &l.x, &l.small, &l.on, &l.kind) }

type spec struct{ id string }

// A tree owns specs, and has a leaf in two places.
type tree struct {
	name   name
	when   time.Time
	wait   time.Duration
	gaps   []time.Duration
	at     []time.Time
	leaf   leaf
	all    []leaf
	none   []leaf
	floats []float64
	bits   []uint64
	named  map[name]*leaf
	counts map[name]int
	one    *leaf
	specs  []*spec
	first  *spec // of specs
	other  *spec // that nobody owns
	twin   [2]*leaf
	cache  int // not remembered
}

func (t *tree) Remember(m *memory.Codec) {
	m.Fields((*string)(&t.name), &t.when, &t.wait, &t.leaf, &t.floats, &t.bits, &t.gaps)
	memory.Slice(m, &t.at, func(at *time.Time, m *memory.Codec) { m.Fields(at) })
	memory.Slice(m, &t.all, (*leaf).Remember)
	memory.Slice(m, &t.none, (*leaf).Remember)
	memory.Map(m, &t.named, memory.To((*leaf).Remember))
	memory.Map(m, &t.counts, memory.Number)
	memory.Pointer(m, &t.one, (*leaf).Remember)
	memory.Slice(m, &t.specs, func(s **spec, m *memory.Codec) {
		memory.Once(m, s, func(s *spec, m *memory.Codec) { m.Fields(&s.id) })
	})
	memory.Shared(m, &t.first)
	memory.Shared(m, &t.other)
	for i := range t.twin {
		memory.Once(m, &t.twin[i], (*leaf).Remember)
	}
}

func grown() *tree {
	t := &tree{
		name: "oak", when: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), wait: -time.Hour, gaps: []time.Duration{2, -1}, at: []time.Time{{}, time.Unix(9, 1).UTC()}, leaf: leaf{-3, math.Inf(-1), 0.1, true, 200},
		all: []leaf{{n: 1}, {x: -0.1}}, none: []leaf{}, floats: []float64{0.1, math.Copysign(0, -1)}, bits: []uint64{1 << 62},
		named: map[name]*leaf{"b": {n: 2}, "a": {n: math.MinInt}, "nil": nil}, counts: map[name]int{"c": 7}, one: &leaf{n: 9}, specs: []*spec{{"x"}, {"y"}},
	}
	t.first, t.other, t.twin[0] = t.specs[1], &spec{"z"}, &leaf{n: 5}
	t.twin[1] = t.twin[0]
	return t
}

func TestImage_is_a_copy_that_shares_what_nobody_changes(t *testing.T) {
	was := grown()
	image, err := memory.Take(was)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		now := &tree{cache: 4}
		if err := image.Restore(now); err != nil {
			t.Fatal(err)
		}
		if now.first != was.first || now.other != was.other || now.cache != 4 {
			t.Errorf("got %+v, want the same objects", now)
		}
		if now.cache = 0; !reflect.DeepEqual(was, now) {
			t.Errorf("got %+v, want %+v", now, was)
		}
		now.named["a"].n, now.all[0].n, now.floats[0] = 8, 8, 8 // bears neither on the original nor on the next copy
	}
	if !reflect.DeepEqual(was, &tree{}) && was.all[0].n != 1 {
		t.Error("what changed the copy changed the original")
	}
}

func TestMarshal_keeps_objects_that_have_an_owner(t *testing.T) {
	was := grown()
	data, err := memory.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := memory.Marshal(grown()); err != nil || !bytes.Equal(data, again) {
		t.Errorf("equal objects gave other bytes, %v", err)
	}
	now := &tree{}
	if err := memory.Unmarshal(data, now); err != nil {
		t.Fatal(err)
	}
	if now.first != now.specs[1] || now.twin[0] != now.twin[1] || now.other != nil {
		t.Errorf("got %+v, want the second spec, one leaf twice, and no object without an owner", now)
	}
	now.other = was.other
	if !reflect.DeepEqual(was, now) {
		t.Errorf("got %+v, want %+v", now, was)
	}
}

// less is a tree whose list lacks a field.
type less struct{ tree }

func (t *less) Remember(m *memory.Codec) { m.Fields((*string)(&t.name), &t.when) }

func TestUnmarshal_refuses_other_fields_and_damage(t *testing.T) {
	data, err := memory.Marshal(grown())
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.Unmarshal(data, &less{}); !errors.Is(err, memory.ErrFormat) {
		t.Errorf("another list of fields: %v", err)
	}
	for i := range data {
		if err := memory.Unmarshal(data[:i], &tree{}); !errors.Is(err, memory.ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", i, len(data), err)
		}
	}
}

type function struct{ f func() }

func (f *function) Remember(m *memory.Codec) { m.Fields(&f.f) }

func TestFields_refuses_what_it_does_not_know(t *testing.T) {
	if _, err := memory.Marshal(&function{}); err == nil {
		t.Error("a function was written")
	}
}

// Damaged bytes are refused, or read as something else; nothing panics, and memory is not spent on lengths that cannot be.
func FuzzUnmarshal(f *testing.F) {
	data, err := memory.Marshal(grown())
	if err != nil {
		f.Fatal(err)
	}
	for i := range data {
		changed := bytes.Clone(data)
		changed[i] ^= byte(1 + i%255)
		f.Add(changed)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = memory.Unmarshal(data, &tree{})
	})
}

// What is remembered of many small objects costs few allocations beside them: a scheduler copies its policy while it looks ahead.
func TestTakesLittle(t *testing.T) {
	was := &tree{all: make([]leaf, 10_000), floats: make([]float64, 10_000)}
	var image *memory.Image
	if n := testing.AllocsPerRun(3, func() { image, _ = memory.Take(was) }); n > 60 {
		t.Errorf("%.0f allocations to write 10,000 objects, want those of a growing buffer", n)
	}
	if n := testing.AllocsPerRun(3, func() { _ = image.Restore(&tree{}) }); n > 20 {
		t.Errorf("%.0f allocations to read 10,000 objects in a slice, want few", n)
	}
}
