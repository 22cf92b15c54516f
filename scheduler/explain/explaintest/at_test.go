package explaintest

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// TestAtSaysWhatTheRoundSaid: what is found in a journal later is what was found in the round.
func TestAtSaysWhatTheRoundSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("replays long runs")
	}
	for _, name := range []string{"srtf", "gavel", "oxgang"} {
		r := simulate(t, name, "overload", "1")
		points := r.points(draws.Seed(t), 3)
		said := r.explained(t, points)
		for _, at := range points {
			j, err := journal.NewReader(bytes.NewReader(r.journal))
			if err != nil {
				t.Fatal(err)
			}
			of := whatif.Moment{Job: at.job, At: r.all[at.round].s.Now.Sub(j.Header().Start)}
			round, err := whatif.RoundOf(t.Context(), j, of, whatif.Options{Fresh: r.remake.Fresh, Scheduler: r.remake.Scheduler})
			if err != nil {
				t.Fatal(err)
			}
			c, err := round.Unblock(t.Context(), foreseen(at.round, r.all[at.round].s))
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, c); !reflect.DeepEqual(got, said[at]) {
				t.Errorf("%s, %v: got %+v, want %+v", name, at, got, said[at])
			}
		}
	}
}
