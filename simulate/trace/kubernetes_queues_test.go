package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// kueueDump has queues of both versions of Kueue's API, a job of one, and nodes of one of two flavors.
const kueueDump = `{"kind": "List", "items": [
{"kind": "Node", "metadata": {"name": "n", "uid": "n", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"nvidia.com/gpu.product": "A100", "pool": "big"}},
 "status": {"allocatable": {"nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]}},
{"kind": "ResourceFlavor", "metadata": {"name": "big", "uid": "f", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeLabels": {"pool": "big"}}},
{"kind": "ResourceFlavor", "metadata": {"name": "gone", "uid": "g", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeLabels": {"pool": "gone"}}},
{"kind": "ResourceFlavor", "metadata": {"name": "any", "uid": "h", "creationTimestamp": "2026-01-01T00:00:00Z"}},
{"kind": "ClusterQueue", "metadata": {"name": "team-b", "uid": "qb", "creationTimestamp": "2026-01-01T00:00:00Z"},
 "spec": {"cohort": "all", "queueingStrategy": "StrictFIFO", "preemption": {"withinClusterQueue": "LowerPriority"}, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [
  {"name": "any", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 8}]}]}]}},
{"kind": "ClusterQueue", "metadata": {"name": "team-a", "uid": "qa", "creationTimestamp": "2026-01-01T00:00:00Z"},
 "spec": {"cohortName": "all", "preemption": {"withinClusterQueue": "Never"}, "resourceGroups": [{"coveredResources": ["cpu", "nvidia.com/gpu"], "flavors": [
  {"name": "gone", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "4"}]},
  {"name": "big", "resources": [{"name": "cpu", "nominalQuota": 96}, {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "0", "lendingLimit": 4}]}]}]}},
{"kind": "ClusterQueue", "metadata": {"name": "cpus", "uid": "qc", "creationTimestamp": "2026-01-01T00:00:00Z"},
 "spec": {"stopPolicy": "Hold", "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": 8}]}]}]}},
{"kind": "LocalQueue", "metadata": {"namespace": "ml", "name": "main", "uid": "l", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"clusterQueue": "team-a"}},
{"kind": "Workload", "metadata": {"namespace": "ml", "name": "w", "uid": "w", "creationTimestamp": "2026-01-01T00:00:00Z", "ownerReferences": [{"kind": "Job", "uid": "j"}]},
 "spec": {"priority": 7, "queueName": "main"}, "status": {"conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z"}]}},
{"kind": "Job", "metadata": {"namespace": "ml", "name": "train", "uid": "j", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"kueue.x-k8s.io/queue-name": "main"}},
 "spec": {"parallelism": 1, "template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]}}},
 "status": {"startTime": "2026-01-01T00:00:10Z", "completionTime": "2026-01-01T00:01:10Z"}}]}`

func TestReadKubernetes_quotas(t *testing.T) {
	o := parse.Options{Summary: new(parse.Summary)}
	k, err := ReadHistory(strings.NewReader(kueueDump), kubernetesFormat, o)
	if err != nil {
		t.Fatal(err)
	}
	none, four := 0, 4
	want := []Quota{
		{Queue: "team-a", Cohort: "all", Flavors: []FlavorQuota{{Flavor: "big", Types: []cluster.GPUType{"a100"}, Nominal: 8, Borrow: &none, Lend: &four}}},
		{Queue: "team-b", Cohort: "all", Strict: true, Flavors: []FlavorQuota{{Flavor: "any", Nominal: 8}}},
	}
	if diff := cmp.Diff(want, k.Quotas); diff != "" {
		t.Errorf("quotas (-want +got):\n%s", diff)
	}
	if s := k.Jobs[0].Arrival.Spec; s.Queue != "team-a" || s.Priority != 7 {
		t.Errorf("job of queue %q, priority %v, want team-a, 7", s.Queue, s.Priority)
	}
	notes := map[string]int{}
	for _, n := range o.Summary.Notes {
		notes[n.Text] = n.Count
	}
	for _, want := range []string{
		"Kueue queues that preempt; preemption is not replayed", "stopped Kueue queues",
		"Kueue queues without a GPU quota", "quotas of flavors without nodes, ignored",
	} {
		if notes[want] != 1 {
			t.Errorf("%q: counted %d times, want once", want, notes[want])
		}
	}
}
