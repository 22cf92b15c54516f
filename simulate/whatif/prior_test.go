package whatif_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// fitted are runs whose errors stand for those of a run that has none yet: loads, and their seeds. Errors
// of one run are alike, so that many runs tell more than many predictions.
var fitted = []struct {
	load
	seeds []uint64
}{
	{load{"cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=2h", 45}, []uint64{11, 12, 13, 14, 15, 16}},
	{load{"cluster=t4:4x4,rtx:2x8;generate.jobs=60;generate.span=8h", 45}, []uint64{11, 12, 13, 14, 15, 16}},
	{load{"cluster=v100:2x8/24c/500g;generate.kind=synergy-static;generate.jobs=60;generate.multi-gpu=true", 200}, []uint64{13}},
}

// perCell is how many predictions of one run and phase are taken.
const perCell = 4

// TestPrior_is_written writes scheduler/calibration/prior.csv, if OXGANG_PRIOR names it. It takes five
// minutes of a processor; the rows of gavel and shockwave, which it has not, take longer. With OXGANG_POLICIES it writes the rows of some policies alone: the table is the rows of all, in order.
func TestPrior_is_written(t *testing.T) {
	file := os.Getenv("OXGANG_PRIOR")
	if file == "" {
		t.Skip("writes a file: set OXGANG_PRIOR")
	}
	var rows [][]string
	for _, name := range chosen([]string{"fifo", "easy", "srtf", "las", "afs", "sia", "oxgang", "synergy"}, "OXGANG_POLICIES") {
		for _, f := range fitted {
			for _, seed := range f.seeds {
				rows = append(rows, errorsOf(t, name, f.load, seed)...)
			}
		}
	}
	slices.SortFunc(rows, inOrder)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(append([][]string{{"phase", "length", "low", "mid", "high"}}, rows...)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// inOrder compares rows by their numbers, the first ones first.
func inOrder(a, b []string) int {
	for i := range a {
		x, _ := strconv.ParseFloat(a[i], 64)
		y, _ := strconv.ParseFloat(b[i], 64)
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// errorsOf returns a sample of the errors of one run.
func errorsOf(t *testing.T, name string, under load, seed uint64) (rows [][]string) {
	t.Helper()
	type guessed struct {
		spoken
		guess whatif.Guess
	}
	var all [calibration.Phases][]guessed
	l := listenTo(t, name, under, seed, func(s *policy.Snapshot, p calibration.Phase, id job.ID, g whatif.Guess) {
		if g.Why == whatif.Known {
			all[p] = append(all[p], guessed{spoken{job: id, at: s.Now, phase: p}, g})
		}
	})
	rng := rand.New(rand.NewPCG(seed, 5))
	for p := range all {
		n := 0
		for _, i := range rng.Perm(len(all[p])) {
			x := &all[p][i]
			after, ok := l.after(&x.spoken)
			if !ok || n == perCell {
				continue
			}
			n++
			length, e := x.guess.Errors(after, l.length)
			rows = append(rows, []string{fmt.Sprint(p), short3(length), short3(e[0]), short3(e[1]), short3(e[2])})
		}
	}
	return rows
}

func short3(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }
