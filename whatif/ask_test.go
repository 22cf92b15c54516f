package whatif_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
	"github.com/oxgang/oxgang/workload"
)

// hour returns a run after an hour, in which nothing is random, and the options to look ahead from there.
func hour(t *testing.T) (*run, *policy.Snapshot, *watch, whatif.Options) {
	t.Helper()
	r := mixed(t, 20).flat()
	r.knowing()
	r.scheduler.Profile = true
	seen, learner := newWatch(), whatif.NewLearner(r.estimate())
	snap := r.until(t, "fifo", time.Hour, seen, learner)
	o := options("fifo")
	o.Scheduler, o.Measured = r.scheduler, learner.Measured()
	return r, snap, seen, o
}

// TestAsk_is_what_happens asks what would be, does it, and compares: by one of the two simulations jobs end when they do.
func TestAsk_is_what_happens(t *testing.T) {
	r, snap, seen, o := hour(t)
	runs := slices.IndexFunc(snap.Jobs, func(j *policy.Job) bool { return j.Holding() })
	waits := slices.IndexFunc(snap.Jobs, func(j *policy.Job) bool { return !j.Holding() })
	for name, q := range map[string]whatif.Question{
		"a job that runs is cancelled": {Cancel: snap.Jobs[runs].ID},
		"a job that waits is":          {Cancel: snap.Jobs[waits].ID},
		"a node comes":                 {Nodes: 1, Type: snap.Jobs[runs].Allocation.GPUType},
		"a job that waits has one GPU": {Resize: snap.Jobs[waits].ID, GPUs: 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := whatif.Ask(t.Context(), snap, o, q)
			if err != nil {
				t.Fatal(err)
			}
			ends := r.done(t, snap, seen, q)
			if len(a.Jobs) != len(ends) || a.Sooner+a.Later+a.Same+a.Unknown != len(a.Jobs) {
				t.Fatalf("%d jobs, %d sooner, %d later, %d the same, %d unknown; want %d jobs", len(a.Jobs), a.Sooner, a.Later, a.Same, a.Unknown, len(ends))
			}
			for _, h := range a.Jobs {
				if h.After.Why != whatif.Known || !oneIs(h.After, ends[h.Job], 2*time.Second) {
					t.Errorf("job %s would end in %v to %v, want %v as it does", h.Job, h.After.Early, h.After.Late, ends[h.Job])
				}
			}
			if a.Sooner == 0 {
				t.Error("no job would end sooner")
			}
		})
	}
}

// done returns when jobs end, from a snapshot on, if that is done which is asked.
func (r *run) done(t *testing.T, snap *policy.Snapshot, seen *watch, q whatif.Question) map[job.ID]time.Duration {
	t.Helper()
	rest, after := r.left(snap, seen), newWatch()
	rest.arrivals = slices.DeleteFunc(rest.arrivals, func(a workload.Arrival) bool { return a.Spec.ID == q.Cancel })
	delete(rest.world.Initial, q.Cancel)
	for i := range rest.arrivals {
		if a := &rest.arrivals[i]; a.Spec.ID == q.Resize {
			a.Spec.GPUs, a.Spec.MinGPUs, a.Spec.MaxGPUs = q.GPUs, q.GPUs, q.GPUs
		}
	}
	nodes := slices.Clone(r.cluster.Nodes())
	for range q.Nodes {
		n := nodes[slices.IndexFunc(nodes, func(n cluster.Node) bool { return n.GPUType == q.Type })]
		n.ID = "another"
		nodes = append(nodes, n)
	}
	var err error
	if rest.cluster, err = cluster.New(nodes); err != nil {
		t.Fatal(err)
	}
	if err := rest.play(t, "fifo", func(b scheduler.Backend) scheduler.Backend { return b }, after); err != nil {
		t.Fatal(err)
	}
	return after.ends
}

// A question that cannot be asked is refused, and says why.
func TestAsk_refuses(t *testing.T) {
	_, snap, _, o := hour(t)
	for want, q := range map[string]whatif.Question{
		"0 things are asked":                     {},
		"2 things are asked":                     {Cancel: "a", Nodes: 1, Type: "t4"},
		"job nobody is not there":                {Cancel: "nobody"},
		"job none is not there":                  {Resize: "none", GPUs: 1},
		"no node has GPUs of type tpu":           {Nodes: 1, Type: "tpu"},
		`0 nodes of type "t4", want 1 to 1000`:   {Type: "t4"},
		`job "" on 3 GPUs, want a job`:           {GPUs: 3},
		`job "a" on -1 GPUs, want a job and at`:  {Resize: "a", GPUs: -1},
		`1001 nodes of type "t4", want 1 to 100`: {Nodes: 1001, Type: "t4"},
	} {
		if _, err := whatif.Ask(t.Context(), snap, o, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
}
