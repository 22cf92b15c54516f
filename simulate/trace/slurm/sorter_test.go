package slurm

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A place is a parse.Spill in memory, which may fail.
type place struct {
	bytes  []byte
	fails  error // of the next call
	closed bool
}

func (p *place) WriteAt(b []byte, at int64) (int, error) {
	if p.fails != nil {
		return 0, p.fails
	}
	if n := int(at) + len(b); n > len(p.bytes) {
		p.bytes = append(p.bytes, make([]byte, n-len(p.bytes))...)
	}
	return copy(p.bytes[at:], b), nil
}

func (p *place) ReadAt(b []byte, at int64) (int, error) {
	if p.fails != nil {
		return 0, p.fails
	}
	n := copy(b, p.bytes[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (p *place) Close() error {
	p.closed = true
	return nil
}

// drawRun draws a run; many are alike.
func drawRun(t *rapid.T, at int) run {
	number := func(name string) uint32 {
		return rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32()).Draw(t, name)
	}
	submit := number("submit")
	return run{
		id: key{number("number"), number("part")}, submit: submit, eligible: number("eligible"), start: number("start"), elapsed: number("elapsed"),
		limit: number("limit"), priority: number("priority"), owner: number("owner"), ask: number("ask"), state: number("state"), line: number("line"),
		place: uint32(at), name: rapid.StringN(0, 5, 40).Draw(t, "name"),
	}
}

// Runs come back in order, whatever they are and however few of them are in memory.
func TestSorter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		out := &place{}
		s := sorter{compare: byJob, most: rapid.IntRange(1, 9).Draw(t, "page"), open: func() (parse.Spill, error) { return out, nil }}
		var want []run
		for i := range rapid.IntRange(0, 40).Draw(t, "runs") {
			r := drawRun(t, i)
			want = append(want, r)
			s.add(&r)
		}
		outside := len(want) > s.most
		slices.SortStableFunc(want, func(a, b run) int { return byJob(&a, &b) })
		var got []run
		if err := s.each(func(r *run) bool { got = append(got, *r); return true }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d runs, want %d as they were, in order:\n%+v\n%+v", len(got), len(want), got, want)
		}
		if out.closed != outside {
			t.Fatalf("the place outside is closed: %v, want %v", out.closed, outside)
		}
	})
}

// A place outside that fails fails the reading, and is closed.
func TestSorter_errors(t *testing.T) {
	broken := errors.New("no space left")
	for _, when := range []string{"open", "write", "read"} {
		out := &place{}
		s := sorter{compare: byJob, most: 2, open: func() (parse.Spill, error) {
			if when == "open" {
				return nil, broken
			}
			return out, nil
		}}
		if when == "write" {
			out.fails = broken
		}
		for i := range 7 {
			s.add(&run{place: uint32(i)})
		}
		out.fails = broken
		if when == "open" || when == "write" {
			out.fails = nil
		}
		err := s.each(func(*run) bool { return true })
		if !errors.Is(err, broken) || when != "open" && !out.closed {
			t.Errorf("%s: error %v and closed %v", when, err, out.closed)
		}
	}
}

// A log whose runs are sorted outside of memory is read as one that is read in memory, whether jobs come in order or not: the
// same jobs in the same order, and the same notes.
func TestRead_outside_of_memory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := &strings.Builder{}
		fmt.Fprintln(text, "JobID|JobName|Submit|Start|ElapsedRaw|State|ReqTRES")
		ordered, id := rapid.Bool().Draw(t, "ordered"), 1
		for range rapid.IntRange(1, 60).Draw(t, "rows") {
			if ordered {
				id += rapid.IntRange(0, 2).Draw(t, "step")
			} else {
				id = rapid.IntRange(1, 20).Draw(t, "id")
			}
			submit := 1704067200 + rapid.IntRange(0, 50).Draw(t, "submit")
			fmt.Fprintf(text, "%d|name-%d|%d|%d|%d|COMPLETED|gres/gpu=%d\n", id, rapid.IntRange(0, 3).Draw(t, "name"), submit,
				submit+rapid.IntRange(0, 9).Draw(t, "wait"), rapid.IntRange(0, 3).Draw(t, "elapsed"), rapid.IntRange(1, 2).Draw(t, "gpus"))
		}
		limit := rapid.IntRange(0, 3).Draw(t, "limit")
		inside, kept := readAll(text.String(), limit, 1<<16, true)
		outside, noted := readAll(text.String(), limit, rapid.IntRange(1, 6).Draw(t, "page"), true)
		general, also := readAll(text.String(), limit, 4, false)
		if inside != outside || kept != noted || inside != general || kept != also {
			t.Fatalf("of\n%s\nin memory:\n%s%s\noutside:\n%s%s\nas if in no order:\n%s", text, inside, kept, outside, noted, general)
		}
	})
}

// readAll returns the jobs of a log, read with so many runs in memory, and its notes. Unless grouped, no use is made
// of the order of the rows.
func readAll(text string, limit, page int, grouped bool) (jobs, notes string) {
	var b strings.Builder
	o := parse.Options{Limit: limit, Spill: func() (parse.Spill, error) { return &place{}, nil }}.Filled()
	l := newLog(o, func(a workload.Arrival, err error) bool {
		fmt.Fprintf(&b, "%v %+v\n", err, a)
		return err == nil
	})
	l.runs.most, l.grouped.in = page, grouped
	l.read(strings.NewReader(text))
	return b.String(), o.Summary.String()
}
