package kube

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/yaml"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/kubetest"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// untried are rights that the stories below do not use, with what uses them.
var untried = map[string]string{
	"create events": "the recorder of events", "patch events": "the recorder of events",
	"patch clusterpolicies/status": "the manager",
	"patch jobsets":                "as jobs", "patch trainjobs": "as jobs", "patch rayjobs": "as jobs",
	"patch jobsets/status": "as jobs", "patch trainjobs/status": "as jobs",
	"list workloads": "jobs for Kueue", "patch workloads": "jobs for Kueue",
	"list events": "why pods are not made",
}

// TestRights: what the scheduler writes in a mode is what the roles of the mode and of those before
// it allow, and the role of the mode allows no more.
func TestRights(t *testing.T) {
	roles := rolesOf(t)
	for _, verb := range slices.Collect(maps.Keys(roles["oxgang-observe"])) {
		if v, _, _ := strings.Cut(verb, " "); v != "get" && v != "list" && v != "watch" {
			t.Errorf("role oxgang-observe: %s, want that it only reads", verb)
		}
	}
	allowed := make(map[string]bool)
	for _, c := range []struct {
		mode v1alpha1.Mode
		role string
	}{{v1alpha1.Observe, "oxgang-observe"}, {v1alpha1.Recommend, "oxgang-recommend"}, {v1alpha1.Admit, "oxgang-admit"}, {v1alpha1.Resize, "oxgang-resize"}} {
		maps.Copy(allowed, roles[c.role])
		bubble(t, string(c.mode), func(t *testing.T) {
			used := uses(t, c.mode)
			for right := range used {
				if !allowed[right] {
					t.Errorf("it needs to %s, which neither %s nor a role before allows", right, c.role)
				}
			}
			for right := range roles[c.role] {
				if c.mode != v1alpha1.Observe && !used[right] && untried[right] == "" {
					t.Errorf("role %s allows to %s, which nothing needs", c.role, right)
				}
			}
		})
	}
}

// uses returns the rights that the scheduler of a queue uses in a mode: it takes over, starts a job,
// gives it other CPUs, stops it, gives up another whose pods do not come, and ends.
func uses(t *testing.T, mode v1alpha1.Mode) map[string]bool {
	t.Helper()
	used := make(map[string]bool)
	var mu sync.Mutex // calls come from several goroutines
	twin := newTwin()
	twin.Before = func(c *kubetest.Call) error {
		mu.Lock()
		defer mu.Unlock()
		used[c.Right] = true
		return nil
	}
	q := &v1alpha1.Queue{}
	q.Name = queue
	twin.Create(q)
	a := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "a", Workers: 2, GPUs: 1}).UID)
	b := job.ID(twin.Submit(queue, &kubetest.Ask{Name: "b", Workers: 2, GPUs: 2}).UID)
	o := options(mode)
	o.Events = events.NewFakeRecorder(100)
	w := open(t, twin, o)
	because(w, "started", "there is room for it")
	for _, cpus := range []float64{16, 8} {
		do(t, w, withCPUs(a, cpus, on("n0", 2)), withCPUs(b, cpus, on("n0", 2), on("n1", 2)))
		pass(t, w, twin)
	}
	do(t, w, scheduler.Preempt{Job: a})
	pass(t, w, twin)
	w = open(t, twin, o)
	pass(t, w, twin)
	return used
}

// rolesOf returns what the roles of deploy/dist/install.yaml allow, as "patch jobs/status", by name.
func rolesOf(t *testing.T) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testdata.Root(t), "deploy", "dist", "install.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]bool)
	for one := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var r rbacv1.ClusterRole
		if err := yaml.Unmarshal(one, &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind != "ClusterRole" {
			continue
		}
		all[r.Name] = make(map[string]bool)
		for i := range r.Rules {
			for _, resource := range r.Rules[i].Resources {
				for _, verb := range r.Rules[i].Verbs {
					all[r.Name][verb+" "+resource] = true
				}
			}
		}
	}
	return all
}
