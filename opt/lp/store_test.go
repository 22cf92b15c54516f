package lp

import (
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sound fails unless every place of the blocks is in exactly one column or free
// run, or in the unused end of the last block.
func (s *store) sound(t *rapid.T) {
	t.Helper()
	seen := make([][]bool, len(s.blocks))
	for b := range s.blocks {
		seen[b] = make([]bool, len(s.blocks[b].rows))
	}
	claim := func(at place, size int) {
		for k := range size {
			if seen[at.block][int(at.first)+k] {
				t.Fatalf("place %d of block %d is in two runs", int(at.first)+k, at.block)
			}
			seen[at.block][int(at.first)+k] = true
		}
	}
	for _, r := range s.at {
		if r.n > 0 {
			claim(r.place, 1<<r.size)
		}
		if r.n > 1<<r.size {
			t.Fatalf("%d coefficients in a run of %d", r.n, 1<<r.size)
		}
	}
	for size, free := range s.free {
		for _, at := range free {
			claim(at, 1<<size)
		}
	}
	for b := range seen {
		for k, is := range seen[b] {
			unused := b == len(seen)-1 && k >= s.used
			if is == unused {
				t.Fatalf("place %d of block %d: in a run %v, unused %v", k, b, is, unused)
			}
		}
	}
}

// TestStore edits a store and lists, and compares.
func TestStore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, l := &store{}, &lists{}
		const cols, rows = 6, 40
		for c := range uint32(cols) {
			s.add(c, nil)
			l.add(c, nil)
		}
		for range rapid.IntRange(0, 200).Draw(r, "edits") {
			c, row := uint32(rapid.IntRange(0, cols-1).Draw(r, "col")), uint32(rapid.IntRange(0, rows-1).Draw(r, "row"))
			switch rapid.IntRange(0, 9).Draw(r, "kind") {
			case 0:
				s.remove(c)
				l.remove(c)
				var entries []RowEntry
				for i := range rapid.IntRange(0, rows).Draw(r, "n") {
					entries = append(entries, RowEntry{Row{slot: uint32(i)}, float64(i % 3)})
				}
				if s.add(c, entries) != l.add(c, entries) {
					r.Fatal("store and lists count differently")
				}
			case 1, 2, 3:
				if s.drop(c, row) != l.drop(c, row) {
					r.Fatal("store and lists drop differently")
				}
			default:
				if s.set(c, row, float64(row)) != l.set(c, row, float64(row)) {
					r.Fatal("store and lists set differently")
				}
			}
		}
		s.sound(r)
		for c := range uint32(cols) {
			gotRows, gotValues := s.column(c)
			wantRows, wantValues := l.column(c)
			if !slices.Equal(gotRows, wantRows) || !slices.Equal(gotValues, wantValues) {
				r.Fatalf("column %d: %v %v, want %v %v", c, gotRows, gotValues, wantRows, wantValues)
			}
		}
	})
}

// TestStore_gives_memory_back removes and adds the same columns for ever.
func TestStore_gives_memory_back(t *testing.T) {
	s := &store{}
	entries := make([]RowEntry, 100)
	for i := range entries {
		entries[i] = RowEntry{Row{slot: uint32(i)}, 1}
	}
	for round := range 1000 {
		for c := range uint32(50) {
			if round > 0 {
				s.remove(c)
			}
			s.add(c, entries[:1+(round*7+int(c)*13)%100])
		}
	}
	if got := s.bytes(); got > 2_000_000 {
		t.Errorf("50 columns of up to 100 coefficients hold %d bytes", got)
	}
}

// shape is a program of Sia's size at 10,000 GPUs: jobs with so many columns
// each, in the job's row and one of seven capacity rows.
type shape struct{ jobs, perJob, types int }

// sia is the shape, a tenth of it under -short.
func sia() shape {
	if testing.Short() {
		return shape{140, 3643, 7}
	}
	return shape{1400, 3643, 7}
}

func (s shape) cols() int { return s.jobs * s.perJob }

// BenchmarkStore measures the two ways to keep columns at what a round does.
func BenchmarkStore(b *testing.B) {
	for name, fresh := range map[string]func() columns{
		"kind=blocks": func() columns { return &store{} },
		"kind=lists":  func() columns { return &lists{} },
	} {
		b.Run(name, func(b *testing.B) { measureStore(b, sia(), fresh) })
	}
}

func measureStore(b *testing.B, s shape, fresh func() columns) {
	entries := make([]RowEntry, 2)
	fill := func(c columns, job int) {
		for k := range s.perJob {
			entries[0] = RowEntry{Row{slot: uint32(s.types + job)}, 1}
			entries[1] = RowEntry{Row{slot: uint32(k % s.types)}, float64(1 + k%16)}
			c.add(uint32(job*s.perJob+k), entries)
		}
	}
	var c columns
	b.Run("do=build", func(b *testing.B) {
		c = nil
		before := live()
		for b.Loop() {
			c = fresh()
			for job := range s.jobs {
				fill(c, job)
			}
		}
		b.ReportMetric(float64(live()-before)/float64(s.cols()), "B/column")
	})
	next := 0
	round := func(b *testing.B) { // one job in a hundred goes, another comes in its place
		for b.Loop() {
			for range s.jobs / 100 {
				job := next * 37 % s.jobs
				next++
				for k := range s.perJob {
					c.remove(uint32(job*s.perJob + k))
				}
				fill(c, job)
			}
		}
	}
	pass := func(b *testing.B) { // c - A'y
		y := make([]float64, s.types+s.jobs)
		d := make([]float64, s.cols())
		for b.Loop() {
			c.pass(y, d)
		}
	}
	b.Run("do=pass", pass)
	b.Run("do=round", round)
	b.Run("do=pass-after-rounds", pass)
	b.Run("do=row-across-1000", func(b *testing.B) {
		row := uint32(s.types + s.jobs)
		for b.Loop() {
			for k := range 1000 {
				c.set(uint32(k*(s.cols()/1000)), row, 1)
			}
			for k := range 1000 {
				c.drop(uint32(k*(s.cols()/1000)), row)
			}
		}
	})
}

// live returns the bytes of the heap that are in use.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// bytes returns the memory the store holds.
func (s *store) bytes() int64 {
	total := int64(len(s.at)) * 16
	for _, b := range s.blocks {
		total += int64(len(b.rows)) * 12
	}
	return total
}
