package whatif_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/whatif"
	"github.com/oxgang/oxgang/whatif/calibration"
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

// TestPrior_is_written writes whatif/calibration/prior.csv, if OXGANG_PRIOR names it. It takes twenty
// minutes.
func TestPrior_is_written(t *testing.T) {
	file := os.Getenv("OXGANG_PRIOR")
	if file == "" {
		t.Skip("writes a file: set OXGANG_PRIOR")
	}
	var rows [][]string
	for _, name := range []string{"fifo", "easy", "srtf", "las", "afs", "sia", "oxgang", "gavel", "synergy", "shockwave"} {
		for _, f := range fitted {
			for _, seed := range f.seeds {
				rows = append(rows, errorsOf(t, name, f.load, seed)...)
			}
		}
	}
	slices.SortFunc(rows, func(a, b []string) int {
		x, _ := strconv.ParseFloat(a[1], 64)
		y, _ := strconv.ParseFloat(b[1], 64)
		if a[0] != b[0] {
			return int(a[0][0]) - int(b[0][0])
		}
		return int(math.Copysign(1, x-y))
	})
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
