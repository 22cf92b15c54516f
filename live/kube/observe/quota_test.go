package observe

import (
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// crowd returns an observation of so many jobs of a namespace that wait, oldest first.
func crowd(s *Observation, namespace string, n int) {
	for i := range n {
		s.Jobs = append(s.Jobs, ObservedJob{Parsed: &jobadapter.Job{
			UID: namespace + string(rune('0'+i)), Namespace: namespace, Suspended: true, Created: time.Unix(int64(i), 0),
		}})
	}
}

func chosen(known job.ID, shares []v1alpha1.NamespaceShare, s *Observation) *Observer {
	o := jobstate.DefaultOptions()
	o.Queue = &v1alpha1.Queue{}
	o.Queue.Name, o.Queue.Spec.Mode, o.Queue.Spec.Namespaces = "train", v1alpha1.Resize, shares
	ob := New(&o, nil, nil, func(id job.ID) (planned, over bool) { return id == known, false })
	s.Ours, s.Beyond = map[string]bool{}, map[string]bool{}
	ob.choose(s)
	return ob
}

// A namespace that has its quota of jobs keeps none of another out. What was planned before, or runs by an
// earlier plan, goes before what is older; what has ended, or cannot be planned, takes no room.
func TestChoose(t *testing.T) {
	shares := []v1alpha1.NamespaceShare{{Name: "a", MaxJobs: 3}, {Name: "b"}}
	s := &Observation{}
	crowd(s, "a", 9)
	crowd(s, "b", 1)
	runs, ended, wrong := s.Jobs[8].Parsed, s.Jobs[0].Parsed, s.Jobs[1].Parsed
	runs.Suspended, runs.Generation = false, 1
	ended.Ended = &jobadapter.Ending{Outcome: scheduler.Done}
	wrong.Problem = "no GPUs"
	chosen("a6", shares, s)
	for uid, want := range map[string]bool{"a0": false, "a1": false, "a2": true, "a3": false, "a5": false, "a6": true, "a8": true, "b0": true} {
		if s.Ours[uid] != want {
			t.Errorf("%s: planned %v, want %v", uid, s.Ours[uid], want)
		}
	}
	if full := s.FullNamespaces(); full["a"] != 4 || len(full) != 1 {
		t.Errorf("too many: %v, want 4 of a", full)
	}
}

// A quota that is lowered takes nothing from jobs that run.
func TestChoose_keeps_what_runs(t *testing.T) {
	s := &Observation{}
	crowd(s, "a", 3)
	for i := range 2 {
		s.Jobs[i].Parsed.Suspended, s.Jobs[i].Parsed.Generation = false, 1
	}
	chosen("", []v1alpha1.NamespaceShare{{Name: "a", MaxJobs: 1}}, s)
	if !s.Ours["a0"] || !s.Ours["a1"] || s.Ours["a2"] {
		t.Errorf("planned %v, want a0 and a1, which run", s.Ours)
	}
}

// Without a quota of its own a namespace has its equal part of what a queue plans at a time.
func TestQuota(t *testing.T) {
	for _, c := range []struct {
		shares []v1alpha1.NamespaceShare
		want   int
	}{
		{[]v1alpha1.NamespaceShare{{Name: "a"}}, 10000},
		{[]v1alpha1.NamespaceShare{{Name: "a"}, {Name: "b"}}, 5000},
		{[]v1alpha1.NamespaceShare{{Name: "a", MaxJobs: 7}, {Name: "b"}}, 7},
	} {
		if got := chosen("", c.shares, &Observation{}).quota("a"); got != c.want {
			t.Errorf("%v: %d, want %d", c.shares, got, c.want)
		}
	}
}
