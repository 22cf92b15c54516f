package lp

import "testing"

type benchmark struct {
	shape
	p        *Problem
	capacity []Row
	job      []Row
	cols     [][]Col
	entries  []RowEntry
}

func newBenchmark(tb testing.TB, s shape) *benchmark {
	f := &benchmark{shape: s, p: &Problem{}, job: make([]Row, s.jobs), cols: make([][]Col, s.jobs), entries: make([]RowEntry, 2)}
	for range s.types {
		r, err := f.p.AddRow(-Inf, 1000)
		if err != nil {
			tb.Fatal(err)
		}
		f.capacity = append(f.capacity, r)
	}
	for job := range s.jobs {
		f.submit(tb, job)
	}
	return f
}

func (f *benchmark) submit(tb testing.TB, job int) {
	r, err := f.p.AddRow(-Inf, 1)
	if err != nil {
		tb.Fatal(err)
	}
	f.job[job] = r
	if f.cols[job] == nil {
		f.cols[job] = make([]Col, f.perJob)
	}
	for k := range f.perJob {
		f.entries[0], f.entries[1] = RowEntry{r, 1}, RowEntry{f.capacity[k%f.types], float64(1 + k%16)}
		if f.cols[job][k], err = f.p.AddCol(-float64(k), 0, Inf, f.entries...); err != nil {
			tb.Fatal(err)
		}
	}
}

// round lets one job in a hundred go and another come, and changes the costs of
// one in ten.
func (f *benchmark) round(tb testing.TB, n int) {
	for k := range f.jobs / 100 {
		job := (n*f.jobs/100 + k) * 37 % f.jobs
		if err := f.p.RemoveCols(f.cols[job]...); err != nil {
			tb.Fatal(err)
		}
		if err := f.p.RemoveRow(f.job[job]); err != nil {
			tb.Fatal(err)
		}
		f.submit(tb, job)
	}
	for k := range f.jobs / 10 {
		for _, c := range f.cols[(n+k*10)%f.jobs] {
			if err := f.p.SetCost(c, -float64(n+k)); err != nil {
				tb.Fatal(err)
			}
		}
	}
}

// contiguous copies the problem into arrays without gaps: the least that a solver
// has to do that cannot be edited.
func (f *benchmark) contiguous() (start []int, rows []uint32, values []float64) {
	start = make([]int, 0, f.p.ColSlots()+1)
	rows, values = make([]uint32, 0, f.p.Nonzeros()), make([]float64, 0, f.p.Nonzeros())
	for j := range f.p.ColSlots() {
		start = append(start, len(rows))
		r, v := f.p.Entries(j)
		rows, values = append(rows, r...), append(values, v...)
	}
	return append(start, len(rows)), rows, values
}

// BenchmarkProblem compares a round of edits with building the problem again.
// Source: thesis §4.5.2, Figure 4.6: differential updates cut compilation times
// by up to 30 times.
func BenchmarkProblem(b *testing.B) {
	s := sia()
	f := newBenchmark(b, s)
	b.Run("do=edit", func(b *testing.B) {
		n := 0
		for b.Loop() {
			f.round(b, n)
			n++
		}
	})
	b.Run("do=reduced-costs", func(b *testing.B) {
		y := make([]float64, f.p.RowSlots())
		for b.Loop() {
			reducedCosts(f.p, y)
		}
	})
	b.Run("do=copy", func(b *testing.B) {
		for b.Loop() {
			f.contiguous()
		}
	})
	b.Run("do=add-row-across-1000", func(b *testing.B) {
		entries := make([]ColEntry, 1000)
		for k := range entries {
			entries[k] = ColEntry{f.cols[k%f.jobs][k%f.perJob], 1}
		}
		for b.Loop() {
			r, err := f.p.AddRow(-Inf, 1, entries...)
			if err != nil {
				b.Fatal(err)
			}
			if err := f.p.RemoveRow(r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("do=rebuild", func(b *testing.B) {
		f = nil
		before := live()
		for b.Loop() {
			f = newBenchmark(b, s)
		}
		b.ReportMetric(float64(live()-before)/float64(s.cols()), "B/column")
	})
}
