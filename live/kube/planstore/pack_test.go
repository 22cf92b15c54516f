package planstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
)

// etcdTakes is the size of the largest object that etcd takes, in bytes.
const etcdTakes = 1.5e6

// bounded is a client of an API server whose objects have at most so many bytes.
type bounded struct {
	client.Client
	most  int
	wrote int // bytes of the last object
}

func (b *bounded) check(o client.Object) error {
	text, err := json.Marshal(o)
	if b.wrote = len(text); err == nil && len(text) > b.most {
		err = apierrors.NewInternalError(errors.New("etcdserver: request is too large"))
	}
	return err
}

func (b *bounded) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if err := b.check(o); err != nil {
		return err
	}
	return b.Client.Update(ctx, o, opts...)
}

func (b *bounded) Status() client.SubResourceWriter { return boundedStatus{b.Client.Status(), b} }

type boundedStatus struct {
	client.SubResourceWriter
	b *bounded
}

func (s boundedStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if err := s.b.check(o); err != nil {
		return err
	}
	return s.SubResourceWriter.Update(ctx, o, opts...)
}

// flood fills a plan with jobs of which every so many-th runs, on a node of its own.
func flood(p *v1alpha1.Plan, jobs, runs int) {
	random := rng.Stream(1, "uids")
	for i := range jobs {
		a := v1alpha1.JobAllocation{
			UID:  fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), random.Uint32()>>16, random.Uint32()>>20, random.Uint32()>>20, random.Uint64()>>16),
			Kind: "Job", Namespace: "team-a", Name: fmt.Sprintf("sweep-%d", i), Reason: "waiting: no GPUs left",
			Message: fmt.Sprintf("it waits for %d GPUs, and %d of them are free at a price of 1.234", i%16, i%7),
		}
		s := v1alpha1.JobState{UID: a.UID, Submitted: metav1.NewMicroTime(time.Unix(1e9+int64(i), 0)), Since: metav1.NewMicroTime(time.Unix(1e9+int64(i), 0))}
		if runs > 0 && i%runs == 0 {
			a.GPUs, a.GPUType, a.Generation, a.Reason = 8, "a100", int64(1+i%3), "as planned"
			a.Nodes = []v1alpha1.NodeShare{{Name: fmt.Sprintf("node-%04d.cluster.example", i), GPUs: 8}}
			s.ServiceMillis, s.GPUServiceMillis, s.ProgressMilli = int64(random.Uint32()), int64(random.Uint32()), int64(random.Uint32())
		}
		p.Spec.Allocations, p.Status.Jobs = append(p.Spec.Allocations, a), append(p.Status.Jobs, s)
	}
}

// Ten thousand jobs fit into what etcd takes, also if all of them run, and the next leader has what every
// one of them holds.
func TestStore_fits_thousands_of_jobs(t *testing.T) {
	for _, runs := range []int{1, 8} {
		twin := kubetest.New()
		b := &bounded{Client: twin.Client(), most: etcdTakes}
		s := storeOf(b, twin.Direct(), "first", v1alpha1.Resize)
		p := takeOver(t, s)
		flood(p, 10000, runs)
		if err := s.Commit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		spec := b.wrote
		if err := s.Save(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		t.Logf("one of %d runs: %d bytes of spec, %d of status", runs, spec, b.wrote)
		if all := spec + b.wrote; all > etcdTakes {
			t.Errorf("one of %d runs: %d bytes, want what etcd takes", runs, all)
		}
		if left := s.State().LeftOut; left != 0 || s.State().Trouble != nil {
			t.Errorf("one of %d runs: %d left out, %v", runs, left, s.State().Trouble)
		}
		next := takeOver(t, storeOf(twin.Client(), twin.Direct(), "second", v1alpha1.Resize))
		if len(next.Spec.Allocations) != 10000 {
			t.Fatalf("one of %d runs: %d jobs, want all", runs, len(next.Spec.Allocations))
		}
		for i := range next.Spec.Allocations {
			got, want := next.Spec.Allocations[i], p.Spec.Allocations[i]
			if got.Message == "" {
				want.Message = ""
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("job %d: %s", i, diff)
			}
		}
	}
}

// A flood beyond that leaves out jobs that wait and have never run, the last ones, and says how many; those that run
// are planned on. When the flood is over nothing is left out.
func TestStore_goes_on_in_a_flood(t *testing.T) {
	twin := kubetest.New()
	b := &bounded{Client: twin.Client(), most: etcdTakes}
	s := storeOf(b, twin.Direct(), "first", v1alpha1.Resize)
	p := takeOver(t, s)
	flood(p, 40000, 10)
	if err := s.Commit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	next := takeOver(t, storeOf(twin.Client(), twin.Direct(), "second", v1alpha1.Resize))
	left, running := s.State().LeftOut, 0
	for i := range next.Spec.Allocations {
		if next.Spec.Allocations[i].GPUs > 0 {
			running++
		}
	}
	if left == 0 || len(next.Spec.Allocations)+left != 40000 || running != 4000 {
		t.Errorf("%d jobs, of which %d run, and %d left out, want 40000 in all and 4000 that run", len(next.Spec.Allocations), running, left)
	}
	third := storeOf(b, twin.Direct(), "third", v1alpha1.Resize)
	q := takeOver(t, third)
	q.Spec.Allocations = q.Spec.Allocations[:100]
	if err := third.Commit(t.Context(), q); err != nil || third.State().LeftOut != 0 {
		t.Errorf("after the flood: %v, %d left out", err, third.State().LeftOut)
	}
}

// An API server that takes less than others gets less; while it takes nothing, the trouble is told, and passes.
func TestStore_tells_why_a_plan_is_not_written(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		twin := kubetest.New()
		b := &bounded{Client: twin.Client(), most: etcdTakes}
		s := storeOf(b, twin.Direct(), "first", v1alpha1.Resize)
		p := takeOver(t, s)
		flood(p, 10000, 100)
		b.most = 300_000
		if err := s.Commit(t.Context(), p); err != nil || s.State().LeftOut == 0 {
			t.Errorf("%v, %d left out, want a smaller plan", err, s.State().LeftOut)
		}
		r := &refusing{Client: b, err: apierrors.NewServiceUnavailable("etcd is away")}
		s = storeOf(r, twin.Direct(), "second", v1alpha1.Resize)
		r.err = nil
		p = takeOver(t, s)
		r.err = apierrors.NewServiceUnavailable("etcd is away")
		go func() {
			time.Sleep(time.Millisecond)
			if state := s.State(); state.Trouble == nil || time.Since(state.Since) != time.Millisecond {
				t.Errorf("%v since %v, want that etcd is away", state.Trouble, state.Since)
			}
		}()
		if err := s.Commit(t.Context(), p); err != nil || s.State().Trouble != nil {
			t.Errorf("%v, %v", err, s.State().Trouble)
		}
	})
}

// The epoch does not fall if the Plan is deleted: the Queue knows it, and so do jobs that were written to.
// What a job says is believed within reason.
func TestTakeOver_never_lowers_the_epoch(t *testing.T) {
	for name, c := range map[string]struct {
		queue bool   // there is one, and two leaders were, before the Plan was deleted
		job   string // the epoch of a job
		want  int64
	}{
		"nobody knows":                 {false, "", 1},
		"the queue knows":              {true, "", 3},
		"a job knows":                  {false, "7", 8},
		"both know":                    {true, "7", 10},
		"a job lies":                   {true, "999999999999999", 3},
		"a job says what is no number": {true, "x", 3},
	} {
		twin := kubetest.New()
		if c.job != "" {
			twin.Submit("train", &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1, Annotations: map[string]string{v1alpha1.Epoch: c.job}})
		}
		if c.queue {
			twin.Create(&v1alpha1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "train"}})
			takeOver(t, storeOf(twin.Client(), twin.Direct(), "first", v1alpha1.Resize))
			twin.Remove(takeOver(t, storeOf(twin.Client(), twin.Direct(), "second", v1alpha1.Resize)))
		}
		if got := takeOver(t, storeOf(twin.Client(), twin.Direct(), "third", v1alpha1.Resize)).Spec.Epoch; got != c.want {
			t.Errorf("%s: epoch %d, want %d", name, got, c.want)
		}
	}
}

// slowly is a client whose writes of a status take a second, or those of a plan.
type slowly struct {
	client.Client
	plan bool
}

func (s slowly) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if s.plan {
		time.Sleep(time.Second)
	}
	return s.Client.Update(ctx, o, opts...)
}

func (s slowly) Status() client.SubResourceWriter {
	if s.plan {
		return s.Client.Status()
	}
	return slowStatus{s.Client.Status()}
}

type slowStatus struct{ client.SubResourceWriter }

func (s slowStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	time.Sleep(time.Second)
	return s.SubResourceWriter.Update(ctx, o, opts...)
}

// What takes long to save is saved seldom: a tenth of the time at most. A plan that is written meanwhile keeps what was
// saved, and saving keeps the plan.
func TestStore_saves_seldom_what_takes_long(t *testing.T) {
	savesSeldom(t, false)
}

// Where a plan takes long, its round is not made longer by what can be saved later.
func TestStore_saves_seldom_where_plans_take_long(t *testing.T) {
	savesSeldom(t, true)
}

func savesSeldom(t *testing.T, plan bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		twin := kubetest.New()
		s := storeOf(slowly{twin.Client(), plan}, twin.Direct(), "first", v1alpha1.Resize)
		p := takeOver(t, s)
		flood(p, 3, 1)
		if err := s.Commit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(8 * time.Second); s.Due() {
			t.Error("it is saved again after 8 s, want that it waits for 9 where it took one")
		}
		if time.Sleep(time.Second); !s.Due() {
			t.Error("it is not saved after 9 s")
		}
		p.Spec.Round = 2
		if err := s.Commit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		next := takeOver(t, storeOf(twin.Client(), twin.Direct(), "second", v1alpha1.Resize))
		if len(next.Spec.Allocations) != 3 || len(next.Status.Jobs) != 3 || next.Spec.Round != 2 {
			t.Errorf("round %d with %d jobs and the history of %d, want all of round 2", next.Spec.Round, len(next.Spec.Allocations), len(next.Status.Jobs))
		}
	})
}

// Of a thousand jobs as much is readable as of fewer. What is more costs the API server no more for it: of ten thousand a tenth of
// that is readable. All jobs are in the plan in any case.
func TestStore_has_less_to_read_of_many(t *testing.T) {
	sizes := map[int]int{}
	for _, jobs := range []int{1000, 10000} {
		twin := kubetest.New()
		s := storeOf(twin.Client(), twin.Direct(), "first", v1alpha1.Resize)
		p := takeOver(t, s)
		flood(p, jobs, 1)
		if err := s.Commit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := s.Save(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		there := twin.Plan("train")
		sizes[jobs] = len(there.Spec.Allocations) + len(there.Status.Jobs)
		if err := there.Unpack(); err != nil || len(there.Spec.Allocations) != jobs {
			t.Errorf("of %d jobs %d are in the plan, %v", jobs, len(there.Spec.Allocations), err)
		}
	}
	if sizes[1000] < 200 || 9*sizes[10000] > sizes[1000] || sizes[10000] == 0 {
		t.Errorf("readable entries by jobs: %v, want hundreds of a thousand, and a tenth of them of ten thousand", sizes)
	}
}
