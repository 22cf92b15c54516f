package counterfactual

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/placement"
	"github.com/oxgang/oxgang/policy/queue"
	"github.com/oxgang/oxgang/policy/rivals/gandiva"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// waiting returns a snapshot of jobs of so many GPUs, none of which has any yet.
func waiting(nodes []cluster.Node, gpus ...int) *policy.Snapshot {
	c, err := cluster.New(nodes)
	if err != nil {
		panic(err)
	}
	s := &policy.Snapshot{Now: noon, Length: time.Minute, Cluster: c}
	for i, n := range gpus {
		spec := &job.Spec{ID: job.ID(rune('a' + i)), GPUs: n}
		status := job.Status{Phase: job.Waiting, Submitted: noon.Add(time.Duration(i-10) * time.Minute), Since: noon}
		s.Jobs = append(s.Jobs, &policy.Job{Spec: spec, Status: status})
	}
	return s
}

func a100s(gpus ...int) []cluster.Node {
	var nodes []cluster.Node
	for i, n := range gpus {
		nodes = append(nodes, cluster.Node{ID: cluster.NodeID(rune('k' + i)), GPUType: "a100", Capacity: cluster.Resources{GPUs: n}})
	}
	return nodes
}

// alone makes a policy without a memory.
func alone(p policy.Policy) Fresh {
	return func() (policy.Policy, placement.Placer, error) { return p, placement.NewBestFit(), nil }
}

var fifo = alone(queue.New(queue.FIFO()))

func newGandiva() (policy.Policy, placement.Placer, error) {
	p, err := gandiva.New(gandiva.DefaultOptions())
	return p, placement.NewBestFit(), err
}

// find asks what would help a job under first in, first out.
func find(t *testing.T, s *policy.Snapshot, id job.ID) *Change {
	t.Helper()
	d := From(queue.New(queue.FIFO()), fifo)
	p, err := d.Decide(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Find(t.Context(), s, p, id, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFind(t *testing.T) {
	t4 := cluster.Node{ID: "z", GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}
	only := func(s *policy.Snapshot, i int) *policy.Snapshot {
		s.Jobs[i].GPUTypes = []cluster.GPUType{"a100"}
		return s
	}
	for _, test := range []struct {
		name string
		s    *policy.Snapshot
		id   job.ID
		want Change
	}{
		{"waiting comes before buying", waiting(a100s(4), 4, 2), "b", Change{Kind: JobsEnd, Jobs: []job.ID{"a"}}},
		{"several ends, each needed", waiting(a100s(4), 1, 2, 1, 4), "d", Change{Kind: JobsEnd, Jobs: []job.ID{"a", "b", "c"}}},
		{"two of three ends", waiting(a100s(4), 1, 2, 1, 3), "d", Change{Kind: JobsEnd, Jobs: []job.ID{"a", "b"}}},
		{"two of four ends", waiting(a100s(8), 1, 1, 1, 5, 6), "e", Change{Kind: JobsEnd, Jobs: []job.ID{"a", "d"}}},
		{"three more GPUs", whole(waiting(a100s(3), 6)), "a", Change{Kind: MoreGPUs, GPUs: 3, Type: "a100"}},
		{"the most GPUs that it may ask for", waiting(a100s(4, 4), 12), "a", Change{Kind: FewerGPUs, GPUs: 8}},
		{"another type", only(waiting(append(a100s(1), t4), 2), 0), "a", Change{Kind: FewerGPUs, GPUs: 1}},
		{"jobs ahead end, too", waiting(a100s(4), 4, 4, 4), "c", Change{Kind: JobsEnd, Jobs: []job.ID{"a", "b"}}},
		{"as few GPUs as help", whole(waiting(a100s(2, 1), 4)), "a", Change{Kind: MoreGPUs, GPUs: 1, Type: "a100"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := find(t, test.s, test.id)
			kept := Change{Kind: got.Kind, GPUs: got.GPUs, Type: got.Type, Jobs: got.Jobs}
			if !reflect.DeepEqual(kept, test.want) {
				t.Errorf("got %v, want %v", got, &test.want)
			}
		})
	}
}

// TestFind_by_known_ends: where it is known when jobs end, jobs ahead in the queue among them, the change is the one that comes soonest,
// and not the end of a job that trains long after the queue has moved on.
func TestFind_by_known_ends(t *testing.T) {
	s := waiting(a100s(8), 4, 4, 4, 4)
	p, err := From(queue.New(queue.FIFO()), fifo).Decide(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		ends map[job.ID]time.Duration
		want []job.ID
		in   time.Duration
		text string // its end
	}{
		{map[job.ID]time.Duration{"a": 11 * time.Hour, "b": 10 * time.Minute, "c": 20 * time.Minute}, []job.ID{"b", "c"}, 20 * time.Minute, " if 1 of the 2 running jobs (b) and the only job ahead of it (c) were gone (expected in 20 min)"},
		{map[job.ID]time.Duration{"a": 5 * time.Minute, "b": 10 * time.Minute, "c": 20 * time.Minute}, []job.ID{"a", "b"}, 10 * time.Minute, " if jobs a and b ended (expected in 10 min)"},
		{map[job.ID]time.Duration{"b": 10 * time.Minute}, []job.ID{"a", "b"}, -1, ""}, // the others are not foreseen to end: as without
	} {
		c, err := Find(t.Context(), s, p, "d", From(queue.New(queue.FIFO()), fifo), test.ends)
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind != JobsEnd || !reflect.DeepEqual(c.Jobs, test.want) || test.in >= 0 && c.In != test.in || !strings.HasSuffix(c.String(), test.text) {
			t.Errorf("%v: got %v, %v of %v in %v, want the ends of %v in %v", test.ends, c, c.Kind, c.Jobs, c.In, test.want, test.in)
		}
	}
}

// Only jobs with a lower place in the queue are ahead of a job.
func TestFind_jobs_ahead(t *testing.T) {
	in := func(k policy.Kind, place float64) policy.Decision {
		return policy.Decision{Why: policy.Reason{Kind: k, Value: place}}
	}
	jobs := []policy.Decision{
		in(policy.WaitOrder, 2), in(policy.WaitNoCapacity, 9), in(policy.WaitOrder, 1), in(policy.WaitOrder, 3), in(policy.WaitPrice, 0),
	}
	f := &finder{plan: &policy.Plan{Jobs: jobs}}
	for i, want := range []bool{false, true, true, false, false} {
		if f.ahead(i) != want {
			t.Errorf("job %d: got %v, want %v", i, !want, want)
		}
	}
	if f.at = 4; f.ahead(2) {
		t.Error("a job without a place in the queue has others ahead of it")
	}
}

// A job that counts 3 t4 as one GPU hears both numbers.
func TestFind_says_what_a_GPU_stands_for(t *testing.T) {
	s := waiting([]cluster.Node{{ID: "z", GPUType: "t4", Capacity: cluster.Resources{GPUs: 8}}}, 8)
	s.Jobs[0].Equivalents = map[cluster.GPUType]int{"t4": 3}
	if got, want := find(t, s, "a").String(), "it would get 6 t4 GPUs if it asked for 2 GPUs, 3 of type t4 for each"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// whole makes the first job one of replicas of as many GPUs as it asks for.
func whole(s *policy.Snapshot) *policy.Snapshot {
	s.Jobs[0].GPUsPerReplica = map[cluster.GPUType]int{"a100": s.Jobs[0].GPUs}
	return s
}

func TestAJobThatNothingHelpsHearsWhatWasTried(t *testing.T) {
	s := waiting(a100s(1), 1)
	s.Jobs[0].GPUTypes = []cluster.GPUType{"h100"}
	s.Jobs[0].GPUsPerReplica = map[cluster.GPUType]int{"h100": 1}
	if got, want := find(t, s, "a").String(), "no single change helps (tried: waiting 32 min longer)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	budget := Change{Kind: NothingHelps, Tried: []Kind{RoundsPass}, Budget: true}
	if got := budget.String(); !strings.HasSuffix(got, "; larger budgets are not tested") {
		t.Errorf("got %q, want the budget", got)
	}
	for want, c := range map[string]Change{
		"if 1 running job (b) and 1 other waiting job (a) were gone (expected in 9 min)":                      {Jobs: []job.ID{"a", "b"}, Holding: []job.ID{"b"}},
		"if the only running job (b) and 2 of the 5 jobs ahead of it (a and c) were gone (expected in 9 min)": {Jobs: []job.ID{"a", "b", "c"}, Holding: []job.ID{"b"}, Ahead: true, Of: Totals{Running: 1, Ahead: 5}},
		"if 1 other waiting job (a) were gone (expected in 9 min)":                                            {Jobs: []job.ID{"a"}},
		"if 4 of the 6 running jobs and 1 of the 3 other waiting jobs (a) were gone (expected in 9 min); perhaps fewer are enough": {
			Jobs: []job.ID{"a", "b", "c", "d", "e"}, Holding: []job.ID{"b", "c", "d", "e"}, Rough: true, Of: Totals{Running: 6, Waiting: 3},
		},
		"if 4 running jobs ended (expected in 9 min)":                            {Jobs: []job.ID{"a", "b", "c", "d"}, Holding: []job.ID{"a", "b", "c", "d"}},
		"if all 4 jobs ahead of it were gone (expected in 9 min)":                {Jobs: []job.ID{"a", "b", "c", "d"}, Ahead: true, Of: Totals{Ahead: 4}},
		"if 4 other waiting jobs were gone (expected in 9 min)":                  {Jobs: []job.ID{"a", "b", "c", "d"}},
		"if job a ended (expected in 9 min); it will probably start before that": {Jobs: []job.ID{"a"}, Holding: []job.ID{"a"}, Earlier: true},
	} {
		if c.Kind, c.In = JobsEnd, 9*time.Minute; !strings.HasSuffix(c.String(), want) {
			t.Errorf("got %q, want %q", c.String(), want)
		}
	}
	twice := Change{Kind: NothingHelps, Tried: []Kind{JobsEnd, MoreGPUs, JobsEnd}}
	if got := twice.String(); !strings.HasSuffix(got, "(tried: other jobs ending, more GPUs)") {
		t.Errorf("got %q, want each kind once", got)
	}
}

func TestGPUsOfTwoTypesAreNotComparedByNumber(t *testing.T) {
	j := &policy.Job{Spec: &job.Spec{ID: "a"}}
	of := func(n int, t cluster.GPUType) cluster.Allocation {
		return cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: n, GPUType: t}}
	}
	if better(j, of(2, "a100"), of(4, "t4")) || !better(j, of(2, "a100"), of(3, "a100")) || !better(j, of(0, ""), of(1, "t4")) {
		t.Error("got another order of 2 a100, 4 t4, 3 a100 and none")
	}
}

type failing struct{ policy.Policy }

func (failing) Plan(context.Context, *policy.Snapshot) (*policy.Plan, error) {
	return nil, errors.New("no")
}

func TestARecorderDecidesAgain(t *testing.T) {
	s := waiting(a100s(4), 4, 4)
	r := NewRecorder(must(gandiva.New(gandiva.DefaultOptions())), newGandiva, 3)
	for k := range 8 {
		now := *s
		now.Round, now.Now = k, noon.Add(time.Duration(k)*time.Minute)
		want, err := r.Plan(t.Context(), &now)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // what was decided again leaves nothing behind
			then, d, err := r.At(t.Context(), now.Now)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Decide(t.Context(), then)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want.Jobs {
				if got.Jobs[i].Allocation.GPUs != want.Jobs[i].Allocation.GPUs {
					t.Errorf("round %d, job %d: got %v, want %v", k, i, got.Jobs[i].Allocation, want.Jobs[i].Allocation)
				}
			}
		}
	}
	if _, _, err := r.At(t.Context(), noon); err == nil {
		t.Error("a round before the last copy was decided again")
	}
}

// TestARecorderGoesOn: who decides after a round decides the next ones as the run does. Without time, what could be repeated
// is kept.
func TestARecorderGoesOn(t *testing.T) {
	s := waiting(a100s(4), 4, 4, 4)
	r := NewRecorder(must(gandiva.New(gandiva.DefaultOptions())), newGandiva, 5)
	at := func(k int) *policy.Snapshot {
		now := *s
		now.Round, now.Now = k, noon.Add(time.Duration(k)*time.Minute)
		return &now
	}
	plan := func(p policy.Policy, k int) *policy.Plan { return must(p.Plan(t.Context(), at(k))) }
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for k := range 24 {
		plan(r, k)
		if _, _, _, err := r.After(gone, at(k).Now); err == nil && k%5 != 0 {
			t.Error("rounds were repeated without time")
		}
		next, _, _, err := r.After(t.Context(), at(k).Now)
		if err != nil {
			t.Fatal(err)
		}
		ahead, _, err := Copy(r.Policy, newGandiva)
		if err != nil {
			t.Fatal(err)
		}
		for n := k + 1; n < k+8; n++ {
			if got, want := plan(next, n), plan(ahead, n); !reflect.DeepEqual(got.Jobs, want.Jobs) {
				t.Errorf("after round %d, in round %d: got %v, want %v", k, n, got.Jobs, want.Jobs)
			}
		}
	}
}

type panicking struct{ policy.Policy }

func (panicking) Plan(context.Context, *policy.Snapshot) (*policy.Plan, error) { panic("seeded") }

// fragile is a policy whose memory cannot be written.
type fragile struct {
	policy.Policy
	panics bool
}

func (f *fragile) Remember(m *memory.Codec) {
	if f.panics {
		panic("seeded")
	}
	m.Fail("seeded")
}

func TestARecorderNeverStopsItsPolicy(t *testing.T) {
	s := waiting(a100s(4), 4)
	for _, panics := range []bool{false, true} {
		r := NewRecorder(&fragile{queue.New(queue.FIFO()), panics}, fifo, 2)
		if p, err := r.Plan(t.Context(), s); err != nil || p.Jobs[0].Allocation.GPUs != 4 {
			t.Errorf("got %v, %v, want 4 GPUs", p, err)
		}
		if _, _, err := r.At(t.Context(), s.Now); err == nil {
			t.Error("a policy that cannot be copied was decided again")
		}
	}
	if _, err := From(panicking{}, alone(panicking{})).Decide(t.Context(), s); err == nil {
		t.Error("a policy that panics has a plan")
	}
}

func TestFindSaysWhatIsWrong(t *testing.T) {
	s := waiting(a100s(4), 1)
	p := &policy.Plan{Jobs: make([]policy.Decision, 1)}
	if _, err := Find(t.Context(), s, p, "nobody", From(failing{}, alone(failing{})), nil); err == nil {
		t.Error("a job that is not there was explained")
	}
	if c, err := Find(t.Context(), s, p, "a", From(failing{}, alone(failing{})), nil); err != nil || c.Kind != NothingHelps {
		t.Errorf("a policy without plans: got %v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, s, p, "a", From(failing{}, alone(failing{})), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestFind_of_many: behind so many jobs that it would take too long to find out whether the end of each is needed, what is
// found helps all the same, and says so.
func TestFind_of_many(t *testing.T) {
	gpus := make([]int, 400)
	for i := range gpus {
		gpus[i] = 4
	}
	s := waiting(a100s(4), gpus...)
	for i, j := range s.Jobs {
		spec := *j.Spec
		spec.ID = job.ID(fmt.Sprintf("j%03d", i))
		j.Spec, j.Submitted = &spec, noon.Add(time.Duration(i-500)*time.Minute)
	}
	c := find(t, s, "j399")
	if c.Kind != JobsEnd || len(c.Jobs) != 399 || !c.Rough || c.In >= 0 {
		t.Errorf("got %v of %d jobs, rough %v, in %v; want the ends of 399, perhaps too many", c.Kind, len(c.Jobs), c.Rough, c.In)
	}
	if c.Plans > 700 {
		t.Errorf("%d plans, want at most 700", c.Plans)
	}
	if c = find(t, s, "j020"); c.Rough || len(c.Jobs) != 20 {
		t.Errorf("got the ends of %d jobs, rough %v; want 20, each needed", len(c.Jobs), c.Rough)
	}
}

// crowd returns a snapshot of so many jobs of a GPU that all fit, one of eight GPUs that fits, too, and one that
// waits for as many as are asked for.
func crowd(jobs, asks int) *policy.Snapshot {
	gpus := make([]int, jobs, jobs+2)
	for i := range gpus {
		gpus[i] = 1
	}
	s := waiting(a100s(8, jobs), append(gpus, 8, asks)...)
	for i, j := range s.Jobs {
		spec := *j.Spec
		spec.ID = job.ID(fmt.Sprintf("j%04d", i))
		j.Spec, j.Submitted = &spec, noon.Add(time.Duration(i-2*jobs)*time.Minute)
	}
	return s
}

// TestFind_in_a_crowd: among more jobs than could be tried one by one, that is found which helps, after few plans.
func TestFind_in_a_crowd(t *testing.T) {
	const jobs = 3000
	s := crowd(jobs, 8)
	c := find(t, s, job.ID(fmt.Sprintf("j%04d", jobs+1)))
	if c.Kind != JobsEnd || !slices.Equal(c.Jobs, []job.ID{job.ID(fmt.Sprintf("j%04d", jobs))}) || c.Plans > 5 {
		t.Errorf("got %v, the ends of %v, after %d plans; want that of the one with eight GPUs, after at most 5", c.Kind, c.Jobs, c.Plans)
	}
	s = crowd(jobs, jobs+100)
	c = find(t, s, job.ID(fmt.Sprintf("j%04d", jobs+1)))
	if c.Kind != MoreGPUs || c.GPUs != jobs+100 || c.Plans > 500 {
		t.Errorf("got %v, %d, after %d plans; want %d more GPUs, after at most 500", c.Kind, c.GPUs, c.Plans, jobs+100)
	}
}

// TestFind_asks_little_behind_thousands: if no small change helps, the answer takes few plans.
func TestFind_asks_little_behind_thousands(t *testing.T) {
	const jobs = 7000
	gpus := make([]int, jobs)
	for i := range gpus {
		gpus[i] = 4
	}
	s := waiting(a100s(4), gpus...)
	for i, j := range s.Jobs {
		spec := *j.Spec
		spec.ID = job.ID(fmt.Sprintf("j%04d", i))
		j.Spec, j.Submitted = &spec, noon.Add(time.Duration(i-2*jobs)*time.Minute)
	}
	c := find(t, s, "j4000")
	if c.Kind != JobsEnd || len(c.Jobs) != 4000 || !c.Rough || c.Plans > 25 {
		t.Errorf("got %v of %d jobs, rough %v, after %d plans; want the ends of 4000 after at most 25", c.Kind, len(c.Jobs), c.Rough, c.Plans)
	}
}

// TestFind_makes_nothing_when_time_is_over: thousands of snapshots that nobody decides would cost seconds.
func TestFind_makes_nothing_when_time_is_over(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &finder{ctx: ctx}
	if f.helps(&Change{}, func() *policy.Snapshot { t.Error("a snapshot was made"); return nil }) {
		t.Error("it helps, want that nobody knows")
	}
}

// TestFind_others: who gets the rest of the GPUs that are added is said.
func TestFind_others(t *testing.T) {
	s := waiting(a100s(4), 4, 2, 2)
	gives := func(gpus ...int) *policy.Plan {
		p := &policy.Plan{}
		for _, n := range gpus {
			a := cluster.Allocation{Configuration: cluster.Configuration{Nodes: min(n, 1), GPUs: n, GPUType: "a100"}}
			p.Jobs = append(p.Jobs, policy.Decision{Allocation: a})
		}
		return p
	}
	f := &finder{ctx: t.Context(), s: s, plan: gives(4, 0, 0), at: 2, d: decided{gives(4, 2, 2)}}
	c := &Change{Kind: MoreGPUs, GPUs: 4, Type: "a100"}
	if !f.helps(c, func() *policy.Snapshot { return s }) || c.Others != 2 {
		t.Errorf("others get %d GPUs more, want 2", c.Others)
	}
	if got, want := c.String(), "it would get 2 a100 GPUs if the cluster had 4 more a100 GPUs (other jobs would get 2 more)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f = &finder{ctx: t.Context(), s: s, plan: gives(0, 2, 0), at: 2, d: decided{gives(0, 0, 2)}}
	if !f.helps(c, func() *policy.Snapshot { return s }) || c.Others != -2 {
		t.Errorf("others get %d GPUs more, want 2 fewer", c.Others)
	}
	c.GPUs, c.Gets = 14, cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: 6, GPUType: "t4"}}
	for others, want := range map[int]string{
		6: " (other jobs would get 6 more, and 2 more would be free)", 0: " (8 more would be free)", 9: " (other jobs would get 9 more)",
		-2: " (other jobs would get 2 fewer, and 10 more would be free)",
	} {
		if c.Others = others; c.others() != want {
			t.Errorf("others get %d: %q, want %q", others, c.others(), want)
		}
	}
}

type decided struct{ plan *policy.Plan }

func (d decided) Decide(context.Context, *policy.Snapshot) (*policy.Plan, error) { return d.plan, nil }
