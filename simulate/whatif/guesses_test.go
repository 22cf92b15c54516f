package whatif_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A noted is a line of recorded runs: the start of one, a guess, or what became of a job.
type noted struct {
	Run, Load      string        `json:",omitempty"` // a run begins; then Round is set
	Round          time.Duration `json:",omitempty"`
	At             time.Time     `json:",omitzero"`
	Job            job.ID
	Phase          calibration.Phase
	Guess          *whatif.Guess `json:",omitempty"`
	Started, Ended bool          `json:",omitempty"`
	Done           bool          `json:",omitempty"`
}

// A notebook writes what is guessed in runs, and what happens, to the file that OXGANG_GUESSES names. From it
// TestGuesses_again says how ranges of another calibration hold, without simulating.
type notebook struct{ to *json.Encoder }

// notes returns the notebook of a run; nil if none is wanted.
func notes(t testing.TB, name, load string) *notebook {
	t.Helper()
	file := os.Getenv("OXGANG_GUESSES")
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	n := &notebook{json.NewEncoder(f)}
	n.write(&noted{Run: name, Load: load})
	return n
}

func (n *notebook) write(x *noted) {
	if err := n.to.Encode(x); err != nil {
		panic(err)
	}
}

// stating notes a guess.
func (n *notebook) stating(s *policy.Snapshot, p calibration.Phase, id job.ID, g whatif.Guess) {
	n.write(&noted{At: s.Now, Job: id, Phase: p, Guess: &g, Round: s.Length})
}

// Event implements scheduler.Observer.
func (n *notebook) Event(now time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		n.write(&noted{At: now, Job: e.Job, Ended: true, Done: e.Outcome == scheduler.Done})
	}
}

// Round implements scheduler.Observer.
func (n *notebook) Round(s *policy.Snapshot, _ *policy.Plan, acts []scheduler.Action) {
	for _, a := range acts {
		if r, ok := a.(scheduler.Run); ok {
			n.write(&noted{At: s.Now, Job: r.Job, Started: true})
		}
	}
}

// A rerun states the ranges of recorded guesses.
type rerun struct {
	listener
	begin *noted // the start of a job that waits
}

// TestGuesses_again prints how ranges hold of the guesses in OXGANG_GUESSES.
func TestGuesses_again(t *testing.T) {
	file := os.Getenv("OXGANG_GUESSES")
	if file == "" {
		t.Skip("reads recorded guesses: set OXGANG_GUESSES")
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cells table
	var r *rerun
	for in := json.NewDecoder(bufio.NewReader(f)); ; {
		x := new(noted)
		if err := in.Decode(x); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if x.Run != "" {
			r = &rerun{listener: listener{Predictor: whatif.Noted(), starts: map[job.ID][]time.Time{}, ends: map[job.ID]time.Time{}}}
			cells.runs = append(cells.runs, scored{x.Run, named(x.Load), &r.listener})
			continue
		}
		r.again(x)
	}
	cells.print(t)
}

// again does with the calibration what the run did.
func (r *rerun) again(x *noted) {
	switch {
	case x.Started:
		r.Predictor.NotedStart(x.At, x.Job)
		r.starts[x.Job] = append(r.starts[x.Job], x.At)
	case x.Ended:
		r.Predictor.NotedEnd(x.At, x.Job, x.Done)
		if x.Done {
			r.ends[x.Job] = x.At
		}
	case x.Phase == calibration.Start:
		r.begin = x
	default:
		r.length, r.now = x.Round, x.At
		found := whatif.Times{Job: x.Job, End: *x.Guess}
		if x.Phase == calibration.WaitingEnd {
			found.Start = *r.begin.Guess
		}
		eta := r.Predictor.Noted(x.At, x.Round, x.Phase, found)
		if x.Phase == calibration.WaitingEnd {
			r.all = append(r.all, spoken{x.Job, x.At, calibration.Start, eta.Start, r.begin.Guess})
		}
		r.all = append(r.all, spoken{x.Job, x.At, x.Phase, eta.End, x.Guess})
	}
}

// A scored is a run whose ranges are counted.
type scored struct {
	policy, load string
	*listener
}

// A table counts ranges of runs by policy, load and phase.
type table struct{ runs []scored }

// firstRanges is how many ranges of a phase count as the first ones of a run.
const firstRanges = 20

// print prints how the ranges hold: all, and the first ones of each run.
func (c *table) print(t *testing.T) {
	t.Helper()
	var all, first score
	var cells []string
	sums := map[string]*[calibration.Phases]score{}
	for _, r := range c.runs {
		key := fmt.Sprintf("%-9s %-8s", r.policy, r.load)
		if sums[key] == nil {
			sums[key] = new([calibration.Phases]score)
			cells = append(cells, key)
		}
		found := r.scores()
		for p := range found {
			sums[key][p].join(&found[p])
		}
		begun := r.early(firstRanges).scores()
		for p := range begun {
			first.join(&begun[p])
		}
	}
	var in bounds
	for _, key := range cells {
		for p := range sums[key] {
			x := &sums[key][p]
			t.Logf("%s %-21s %v", key, calibration.Phase(p), x)
			all.join(x)
			in.add(x)
		}
	}
	t.Logf("all: %v; cells of at least 100: %+v", &all, in)
	t.Logf("the first %d of each phase and run: %v", firstRanges, &first)
}

// A bounds counts cells of at least 100 ranges, by the share that held.
type bounds struct {
	Cells, Below70, Within, Above90 int
	Exact                           int // of Above90: most predictions were exact to a round
}

func (b *bounds) add(x *score) {
	if x.known < 100 {
		return
	}
	b.Cells++
	switch s := x.share(); {
	case s < 0.7:
		b.Below70++
	case s <= 0.9:
		b.Within++
	default:
		if b.Above90++; 2*x.exact > x.known {
			b.Exact++
		}
	}
}

func named(settings string) string {
	for name, under := range loads {
		if under.settings == settings {
			return name
		}
	}
	return settings
}

// early returns the first n ranges of each phase.
func (l *listener) early(n int) *listener {
	begun := *l
	begun.all = nil
	var count [calibration.Phases]int
	for _, x := range l.all {
		if count[x.phase]++; count[x.phase] <= n {
			begun.all = append(begun.all, x)
		}
	}
	return &begun
}
