package run

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/ledger"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/sim"
)

// A counter counts, in its own way, what a ledger's sums have to come to: GPU-seconds there, and what
// rented nodes cost, up to the last thing seen.
type counter struct {
	now          time.Time
	there, money float64
	owned        float64   // GPUs that are there and not rented
	rented, rate float64   // GPUs that are there and rented, and what all rented ones cost per hour
	boundary     time.Time // end of the last round
}

func (c *counter) Event(now time.Time, ev scheduler.Event) {
	c.move(now)
	if ev, ok := ev.(scheduler.NodesChanged); ok {
		c.set(ev.Cluster, ev.Rentals)
	}
}

func (c *counter) Round(s *policy.Snapshot, _ *policy.Plan, _ []scheduler.Action) {
	c.move(s.Now)
	c.boundary = s.Now.Add(s.Length)
	c.set(s.Cluster, s.Rentals)
}

func (c *counter) move(now time.Time) {
	d := now.Sub(c.now).Seconds()
	c.there += d * (c.owned + c.rented)
	c.money += d / 3600 * c.rate
	c.now = now
}

func (c *counter) set(nodes *cluster.Cluster, rentals []cluster.Rental) {
	c.owned, c.rented, c.rate = 0, 0, 0
	for _, n := range nodes.Nodes() {
		if n.Tenure != cluster.Rented {
			c.owned += float64(n.Capacity.GPUs)
		}
	}
	for _, r := range rentals {
		c.rented += float64((r.Ready + r.Leaving) * r.Node.Capacity.GPUs)
		c.rate += float64(r.Ready+r.Starting+r.Leaving) * r.NodePrice()
	}
}

// TestLedger_sums_to_what_was_used: over policies and traces, with loans, rented and spot nodes,
// failures and profiling, the ledger has what metrics measure of each job, all GPU time that was
// there, and all that was paid for rented nodes; and it comes out of the journal again.
func TestLedger_sums_to_what_was_used(t *testing.T) {
	shockwave := testdata.Path(t, "shockwave")
	all := map[string]map[string]string{
		"sia":       {"policy": "sia", "generate.jobs": "40", "cluster": "t4:2x4,a100:1x8"},
		"oxgang":    {"policy": "oxgang", "generate.jobs": "40", "cluster": "t4:2x4,a100:1x8"},
		"faults":    {"policy": "fifo", "generate.jobs": "30", "sim.node-mtbf": "20h", "sim.gpu-mtbf": "200h", "sim.repair": "30m", "sim.noise": "0.1"},
		"horizon":   {"policy": "srtf", "generate.jobs": "30", "horizon": "3h"},
		"synergy":   {"policy": "synergy", "generate.kind": "synergy-static", "generate.jobs": "60", "cluster": "synergy32"},
		"loans":     {"policy": "lyra", "generate.kind": "lyra-eighth", "generate.jobs": "300", "cluster": "lyra8", "placer": "best-fit", "measure.skip-queues": ""},
		"no loans":  {"policy": "fifo", "generate.kind": "lyra-eighth", "generate.jobs": "200", "cluster": "lyra8", "placer": "best-fit", "measure.skip-queues": ""},
		"rent":      {"policy": "boa", "generate.jobs": "15", "cluster": "t4:40x4/rent", "set": "budget=40"},
		"spot":      {"policy": "boa", "generate.jobs": "15", "cluster": "t4:2x4,t4:40x4/spot@2,a100:4x8/rent", "set": "budget=40"},
		"autoscale": {"policy": "pollux-autoscale", "generate.jobs": "12", "cluster": "t4:16x4", "set": "population=8,generations=4"},
		"shockwave": {
			"policy": "gavel", "cluster": "v100:32x1", "profiles": shockwave, "profiles.table": "tacc", "estimate.mode": "oracle", "round": "120s",
			"trace": "shockwave:" + shockwave + "/traces/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.csv",
			"limit": "40", "sim.whole-rounds": "true",
		},
	}
	for _, name := range draws.Some(t, len(all), slices.Sorted(maps.Keys(all))) {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			for key, value := range all[name] {
				if err := c.Set(key, value, "test"); err != nil {
					t.Fatal(err)
				}
			}
			checkLedger(t, c)
		})
	}
}

func checkLedger(t *testing.T, c *config.Config) {
	t.Helper()
	in, err := Load(c, osFiles())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	h := Header(c, in, c.Policies[0], "test")
	w, sums := journal.NewWriter(&text, h), &counter{now: sim.Epoch}
	sums.set(h.Cluster.Held(), h.Cluster.Rentals())
	var live, again ledger.Book
	rec := ledger.NewRecorder(h.Start, h.Cluster, live.Add)
	run, err := Simulate(t.Context(), c, in, c.Policies[0], w, sums, rec)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	rec.Close()
	state := func(b *ledger.Book, by ...string) *ledger.Statement {
		s, err := b.State(by, rec.Movements()...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	same := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)/1e3) {
			t.Errorf("%s: %.9f in the ledger, want %.9f", what, got, want)
		}
	}
	s := state(&live, "job")
	same("GPU-seconds used", s.Total.Used.Seconds(), 3600*run.Result.Summary.AllocatedHours)
	same("profiling", s.Total.Profiling.Seconds(), 3600*run.Result.Summary.ProfilingHours)
	same("idle", s.Total.Idle.Seconds(), 3600*run.Result.Summary.IdleHours)
	rows := map[string]ledger.Row{}
	for _, r := range s.Rows {
		rows[r.Of[0]] = r
	}
	for _, j := range run.Result.Jobs {
		r := rows[string(j.ID)]
		same("job "+string(j.ID), r.Used.Seconds(), j.Allocated)
	}
	byType(t, state(&live, "type"), run.Result, same)
	there, rent := 0.0, 0.0
	for _, p := range s.Pools {
		there, rent = there+p.There.Seconds(), rent+p.Rent
	}
	if !run.Unfinished && sums.boundary.After(sums.now) {
		sums.move(sums.boundary) // the last round is taken to run to its end
	}
	same("GPU-seconds there", there, sums.there)
	same("rent", rent, sums.money)
	r, err := journal.NewReader(&text)
	if err != nil {
		t.Fatal(err)
	}
	rec = ledger.NewRecorder(h.Start, h.Cluster, again.Add)
	if err := r.Show(rec); err != nil {
		t.Fatal(err)
	}
	rec.Close()
	if diff := cmp.Diff(s, state(&again, "job"), cmp.AllowUnexported(ledger.GPUTime{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".jobs" }, cmp.Ignore())); diff != "" {
		t.Errorf("-run +journal:\n%s", diff)
	}
	if s.Total.Used.IsZero() {
		t.Error("nothing was used")
	}
}

func byType(t *testing.T, s *ledger.Statement, r *metrics.Result, same func(string, float64, float64)) {
	t.Helper()
	rows := map[string]float64{}
	for _, row := range s.Rows {
		rows[row.Of[0]] = row.Used.Seconds()
	}
	for _, ts := range r.Summary.Types {
		same("type "+string(ts.Type), rows[string(ts.Type)], 3600*ts.Hours)
	}
}
