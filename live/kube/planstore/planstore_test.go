package planstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/job"
)

func storeOf(c client.Client, direct client.Reader, identity string, mode v1alpha1.Mode) *planstore.Store {
	o := jobstate.DefaultOptions()
	o.Queue, o.Identity = &v1alpha1.Queue{}, identity
	o.Queue.Name, o.Queue.Spec.Mode = "train", mode
	return planstore.NewStore(&o, c, direct)
}

func takeOver(t *testing.T, s *planstore.Store) *v1alpha1.Plan {
	t.Helper()
	p, err := s.TakeOver(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Who takes over has the next epoch. Who was there before is told at its next plan, and at once
// if it asks, and writes nothing more.
func TestStore_fences_the_leader_before(t *testing.T) {
	twin := kubetest.New()
	first := storeOf(twin.Client(), twin.Direct(), "first", v1alpha1.Resize)
	second := storeOf(twin.Client(), twin.Direct(), "second", v1alpha1.Resize)
	a := takeOver(t, first)
	a.Spec.Round = 1
	if err := first.Commit(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	b := takeOver(t, second)
	if b.Spec.Epoch != a.Spec.Epoch+1 || b.Spec.Leader != "second" || b.Spec.Round != 1 {
		t.Errorf("took over %+v, want the next epoch of the plan of round 1", b.Spec)
	}
	a.Spec.Round = 2
	if err := first.Commit(t.Context(), a); !errors.Is(err, planstore.ErrFenced) {
		t.Errorf("the leader before commits: %v, want ErrFenced", err)
	}
	if err := first.Leads(t.Context(), a.Spec.Epoch); !errors.Is(err, planstore.ErrFenced) {
		t.Errorf("the leader before asks: %v, want ErrFenced", err)
	}
	if err := second.Leads(t.Context(), b.Spec.Epoch); err != nil {
		t.Errorf("the leader asks: %v", err)
	}
	if p := takeOver(t, storeOf(twin.Client(), twin.Direct(), "third", v1alpha1.Observe)); p.Spec.Round != 1 || p.Spec.Epoch != b.Spec.Epoch {
		t.Errorf("round %d of epoch %d is there, want round 1 as it was taken over", p.Spec.Round, p.Spec.Epoch)
	}
}

// A refusing client refuses the next update, if it has an error for it.
type refusing struct {
	client.Client
	err error
}

func (r *refusing) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if err := r.err; err != nil {
		r.err = nil
		return err
	}
	return r.Client.Update(ctx, o, opts...)
}

// A plan whose answer was lost is the committed one; what does not pass by itself is an error.
func TestStore_commits_once(t *testing.T) {
	twin := kubetest.New()
	r := &refusing{Client: twin.Client()}
	s := storeOf(r, twin.Direct(), "first", v1alpha1.Resize)
	p := takeOver(t, s)
	before := p.DeepCopy()
	p.Spec.Round, p.Spec.Inputs = 1, "all that was told"
	if err := s.Commit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	again := p.DeepCopy()
	again.ResourceVersion = before.ResourceVersion // as if the answer had been lost
	if err := s.Commit(t.Context(), again); err != nil || again.ResourceVersion != p.ResourceVersion {
		t.Errorf("the same plan again: %v, version %s, want %s", err, again.ResourceVersion, p.ResourceVersion)
	}
	p.Spec.Round = 2
	r.err = apierrors.NewForbidden(schema.GroupResource{Resource: "plans"}, "train", errors.New("no"))
	if err := s.Commit(t.Context(), p); !apierrors.IsForbidden(err) {
		t.Errorf("a plan that is forbidden: %v", err)
	}
}

// In a mode that writes nothing, taking over reads.
func TestStore_only_reads(t *testing.T) {
	twin := kubetest.New()
	if p := takeOver(t, storeOf(twin.Client(), twin.Direct(), "one", v1alpha1.Observe)); p.Spec.Epoch != 0 {
		t.Errorf("epoch %d, want none", p.Spec.Epoch)
	}
	if p := takeOver(t, storeOf(twin.Client(), twin.Direct(), "two", v1alpha1.Resize)); p.Spec.Epoch != 1 {
		t.Errorf("epoch %d, want the first", p.Spec.Epoch)
	}
}

// expecting returns a plan of one job that is to end at a time.
func expecting(at, end time.Time) *v1alpha1.Plan {
	p := &v1alpha1.Plan{}
	p.Spec.Time = metav1.NewMicroTime(at)
	to := metav1.NewTime(end)
	p.Spec.Allocations = []v1alpha1.JobAllocation{{ETA: &v1alpha1.ETA{End: &v1alpha1.TimeRange{Latest: &to}}}}
	p.Spec.Allocations[0].UID = "a"
	return p
}

// A plan is written for what is expected at most once a minute, and only if that moved by more
// than a minute and a tenth of what there is until then.
func TestOutdated(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := at.Add(10 * time.Hour)
	for name, test := range map[string]struct {
		after, moved time.Duration
		unsaved      bool
		want         bool
	}{
		"too soon":                  {59 * time.Second, 5 * time.Hour, true, false},
		"nothing moved":             {time.Minute, 0, false, false},
		"something else is to save": {time.Minute, 0, true, true},
		"less than a tenth":         {time.Minute, 50 * time.Minute, false, false},
		"more than a tenth":         {time.Minute, 80 * time.Minute, false, true},
		"sooner":                    {time.Minute, -80 * time.Minute, false, true},
	} {
		last, next := expecting(at, end), expecting(at.Add(test.after), end.Add(test.moved))
		if got := planstore.Outdated(last, next, test.unsaved); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if next := expecting(at.Add(time.Minute), end); !planstore.Outdated(expecting(at, end), func() *v1alpha1.Plan {
		next.Spec.Allocations[0].Unblock = "two GPUs more"
		return next
	}(), false) {
		t.Error("another change would unblock the job: want it written")
	}
}

// As long as nothing is known, what the last plan said holds; of a job that has GPUs only the end
// is still to be expected, and of one that is stopped nothing is said of what would help.
func TestFillExpected(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	last := expecting(at, at.Add(time.Hour))
	last.Spec.Allocations[0].Unblock = "two GPUs more"
	all := expecting(at, at).Spec.Allocations
	all[0].ETA, last.Spec.Allocations[0].ETA.Start = nil, last.Spec.Allocations[0].ETA.End
	planstore.FillExpected(func() map[job.ID]jobstate.Expected { return nil }, last, all)
	if all[0].Unblock != "two GPUs more" || all[0].ETA == nil || all[0].ETA.Start == nil {
		t.Errorf("%+v, want what the last plan said", all[0])
	}
	all[0].GPUs = 2
	planstore.FillExpected(func() map[job.ID]jobstate.Expected { return nil }, last, all)
	if all[0].Unblock != "" || all[0].ETA == nil || all[0].ETA.Start != nil || all[0].ETA.End == nil {
		t.Errorf("%+v, want the end alone of a job that has GPUs", all[0])
	}
	last.Spec.Allocations[0].GPUs, all[0].GPUs = 2, 0
	planstore.FillExpected(func() map[job.ID]jobstate.Expected { return nil }, last, all)
	if all[0].Unblock != "" {
		t.Errorf("%+v, want nothing that was found out before it was stopped", all[0])
	}
}

// A backup of etcd that is restored knows nothing of the last epochs: the clock does.
func TestTakeOver_is_above_epochs_that_nobody_knows(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	lead := func(twin *kubetest.Cluster, at *time.Time) int64 {
		o := jobstate.DefaultOptions()
		o.Queue, o.Identity = &v1alpha1.Queue{}, "a leader"
		o.Queue.Name, o.Queue.Spec.Mode = "train", v1alpha1.Resize
		if at != nil {
			o.Now = func() time.Time { return *at }
		}
		return takeOver(t, planstore.NewStore(&o, twin.Client(), twin.Direct())).Spec.Epoch
	}
	before := kubetest.New()
	first := lead(before, &now)
	second := lead(before, &now)
	now = now.Add(time.Minute)
	if restored := lead(kubetest.New(), &now); first != 1_700_000_000 || second != first+1 || restored <= second {
		t.Errorf("epochs %d, %d, and %d of a cluster that knows of neither, want each above the one before, and the first that of the clock", first, second, restored)
	}
	now = now.Add(-time.Hour)
	if late := lead(before, &now); late != second+1 {
		t.Errorf("by a clock that is late: epoch %d, want %d", late, second+1)
	}
	if old := lead(before, nil); old != second+2 {
		t.Errorf("without a clock: epoch %d, want %d", old, second+2)
	}
}
