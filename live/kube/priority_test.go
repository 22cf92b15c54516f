package kube

import (
	"testing"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// A job has the priority of the PriorityClass that its pods name, or of the cluster's default one, and at most what its queue
// allows. When the class gets another value, the scheduler hears of it.
func TestPriority(t *testing.T) {
	for name, c := range map[string]struct {
		class string
		most  *int32
		want  float64
	}{
		"of its class":                  {"high", nil, 1000},
		"of none":                       {"", nil, 7},
		"less than nothing":             {"low", nil, -5},
		"of its class, bounded":         {"high", new(int32(100)), 100},
		"of its class, not so high":     {"low", new(int32(100)), -5},
		"of none, and bounded by zero":  {"", new(int32(0)), 0},
		"of its class, bounded by zero": {"high", new(int32(0)), 0},
	} {
		bubble(t, name, func(t *testing.T) {
			twin, values := newTwin(), map[string]int32{"high": 1000, "low": -5, "": 7}
			o := options(v1alpha1.Resize)
			o.Priority = func(class string) (int32, bool) { v, known := values[class]; return v, known }
			o.Queue.Spec.Limits.MaxPriority = c.most
			w := open(t, twin, o)
			id := ofClass(twin, c.class)
			looks(t, w, 2)
			if got := w.table.ByID[id].Spec.Priority; got != c.want {
				t.Fatalf("priority %g, want %g", got, c.want)
			}
			if c.class != "high" || c.most != nil {
				return
			}
			news(t, w)
			values["high"] = 2000
			looks(t, w, 1)
			described := false
			for _, e := range news(t, w) {
				d, is := e.(scheduler.Described)
				described = described || is && d.Spec.ID == id && d.Spec.Priority == 2000
			}
			if !described {
				t.Error("the class has another value, and the scheduler has not heard of it")
			}
		})
	}
}

// A job whose pods could not be made, because there is no such class, is told so, and keeps nobody else waiting. Where classes
// are not read, nothing is said of them.
func TestPriority_of_no_class(t *testing.T) {
	for _, read := range []bool{true, false} {
		bubble(t, "", func(t *testing.T) {
			twin := newTwin()
			o := options(v1alpha1.Resize)
			if read {
				o.Priority = func(class string) (int32, bool) { return 0, class == "" }
			}
			w := open(t, twin, o)
			ofClass(twin, "gone")
			looks(t, w, 2)
			if planned := len(w.table.Order) == 1; planned == read {
				t.Errorf("classes are read: %v, and it is planned: %v", read, planned)
			}
			if c := twin.Job("a").Status.Conditions; read && (len(c) != 1 || c[0].Message != `its pods name PriorityClass "gone", which does not exist`) {
				t.Errorf("told %+v", c)
			}
		})
	}
}

func ofClass(twin *kubetest.Cluster, class string) job.ID {
	j := twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 1, GPUs: 1})
	j.Spec.Template.Spec.PriorityClassName = class
	twin.Update(j)
	return job.ID(j.UID)
}
