package slurm

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// A log is read as one in no order, whether jobs come in order or not: the same jobs in the same order, and the same notes.
func TestRead_in_any_order(t *testing.T) {
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
		jobs, notes := readAll(text.String(), limit, true)
		general, noted := readAll(text.String(), limit, false)
		if jobs != general || notes != noted {
			t.Fatalf("of\n%s\n%s%s\nas if in no order:\n%s%s", text, jobs, notes, general, noted)
		}
	})
}

// readAll returns the jobs of a log, and its notes. Unless grouped, no use is made of the order of the rows.
func readAll(text string, limit int, grouped bool) (jobs, notes string) {
	var b strings.Builder
	o := parse.Options{Limit: limit}.Filled()
	l := newLog(o, func(a workload.Arrival, err error) bool {
		fmt.Fprintf(&b, "%v %+v\n", err, a)
		return err == nil
	})
	l.grouped.in = grouped
	l.read(strings.NewReader(text))
	return b.String(), o.Summary.String()
}
