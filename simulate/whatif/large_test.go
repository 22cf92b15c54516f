package whatif_test

import (
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/calibration"
	simrun "github.com/oxgang/oxgang/simulate/run"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// gangWorlds are settings of runs with jobs of at least a quarter of the GPUs, by name. A name with "/" is a trace of
// the shared data.
var gangWorlds = map[string]load{
	"gangs/ad0-9077.jsonl.gz":         {"cluster=homog64", 60},
	"gangs/ad1-9077.jsonl.gz":         {"cluster=homog64", 60},
	"gangs/gang64-l0.95-1.jsonl.gz":   {"cluster=v100:8x8", 120},
	"gangs/week-gang-0.7.jsonl.gz":    {"cluster=v100:8x8", 240},
	"gangs/gangtiny-1.jsonl.gz":       {"cluster=v100:8x8", 30},
	"gangs/stream-128.csv":            {"cluster=a100:16x8", 60},
	"embedded":                        {"cluster=hetero64", 30},
	"embedded rigid":                  {"jobs.rigid=1", 30},
	"generated on one type":           {"cluster=v100:4x8;generate.jobs=120;generate.span=8h", 30},
	"generated on one type, rigid":    {"cluster=v100:4x8;generate.jobs=120;generate.span=8h;jobs.rigid=1", 30},
	"generated on few GPUs":           {"cluster=t4:4x4;generate.jobs=60;generate.span=8h;jobs.rigid=1", 30},
	"generated on few GPUs, adaptive": {"cluster=t4:4x4;generate.jobs=60;generate.span=8h", 30},
}

// A submissionListener notes the first range of each waiting large job.
type submissionListener struct {
	*listener
	asked map[job.ID]bool
}

func (l *submissionListener) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	l.listener.Round(s, p, acts)
	var first []job.ID
	for i, j := range s.Jobs {
		if l.asked[j.ID] || !large(s, j) {
			continue
		}
		l.asked[j.ID] = true
		if p.Jobs[i].Allocation.IsZero() && !j.Holding() && j.FirstStarted.IsZero() {
			first = append(first, j.ID)
		}
	}
	if len(first) == 0 {
		return
	}
	etas, _ := l.LookFor(l.ctx)
	for _, id := range first {
		if eta, ok := etas[id]; ok {
			l.all = append(l.all, spoken{job: id, at: s.Now, phase: calibration.Start, said: eta.Start})
		}
	}
}

// large reports whether a job requests a quarter of the GPUs of the cluster.
func large(s *policy.Snapshot, j *policy.Job) bool {
	all := 0
	for _, t := range s.Cluster.Types() {
		all += t.GPUs
	}
	return 4*j.Spec.GPUs >= all
}

// TestRangesHold_large asks for the start of each large job when it comes, in the worlds whose names have OXGANG_WORLDS.
// It prints how many of these ranges hold, those that are overdue counted as wrong.
func TestRangesHold_large(t *testing.T) {
	if os.Getenv("OXGANG_LONG") == "" {
		t.Skip("long: set OXGANG_LONG=1")
	}
	seed := draws.Seed(t)%1000 + 1
	var names []string
	for name := range gangWorlds {
		if strings.Contains(name, os.Getenv("OXGANG_WORLDS")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all score
	for _, name := range names {
		l := listenForLarge(t, name, seed)
		var one score
		for i := range l.all {
			x := &l.all[i]
			after, ok := l.after(x)
			if ok {
				one.add(x, after, l.length)
			}
			t.Logf("%s: %s said %v to %v (%v), after %v %v, open %v", name, x.job, x.said.Early, x.said.Late, x.said.Why, after, ok, x.said.Open)
		}
		all.join(&one)
		t.Logf("%s: %v", name, &one)
	}
	t.Logf("seed %d, all: %v", seed, &all)
	if s := all.share(); s < 0.75 {
		t.Errorf("%.2f of the ranges held, want at least 0.75", s)
	}
}

// listenForLarge simulates one of the gangWorlds, and asks for the start of each large job when it comes.
func listenForLarge(t *testing.T, name string, seed uint64) *submissionListener {
	under := gangWorlds[name]
	if strings.Contains(name, "/") {
		under.settings += ";trace=" + testdata.Path(t, name)
	}
	c, in, again, types := configured(t, "oxgang", under, seed)
	l := &submissionListener{newListener(t, under.every), map[job.ID]bool{}}
	l.silent = true
	l.Predictor = whatif.NewPredictor(again.Fresh, again.Scheduler, types)
	watch := func(d *simrun.Decider) scheduler.Observer { l.watch(d); return l }
	if _, err := simrun.SimulateWatched(t.Context(), c, in, "oxgang", simrun.Watch{Observer: watch, Whole: true}); err != nil {
		t.Fatal(err)
	}
	return l
}

func opened(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err != nil || !strings.HasSuffix(name, ".gz") {
		return f, err
	}
	z, err := gzip.NewReader(f)
	return struct {
		io.Reader
		io.Closer
	}{z, f}, err
}
