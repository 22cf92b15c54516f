package view_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/view"
	"github.com/oxgang/oxgang/live/status"
)

// What is read here is what the API writes: every field of it has the same name there.
func TestReadsTheAPI(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	from := v1alpha1.Plan{
		ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec: v1alpha1.PlanSpec{
			Epoch: 3, Round: 41, Time: metav1.NewMicroTime(at.Time), Leader: "l", Policy: "sia", Prices: []v1alpha1.TypePrice{{GPUType: "h200", Milli: 5}},
			Allocations: []v1alpha1.JobAllocation{{
				UID: "u", Kind: "Job", Namespace: "a", Name: "b", GPUs: 2, GPUType: "h200", Nodes: []v1alpha1.NodeShare{{Name: "n", GPUs: 2}},
				Reason: "r", Message: "m", Unblock: "x",
				ETA: &v1alpha1.ETA{Start: &v1alpha1.TimeRange{Earliest: &at, Latest: &at}, End: &v1alpha1.TimeRange{Latest: &at}},
			}},
		},
	}
	var want view.Plan
	want.Meta.Name = "q"
	want.Spec.Epoch, want.Spec.Round, want.Spec.Time, want.Spec.Leader, want.Spec.Policy = 3, 41, &at.Time, "l", "sia"
	want.Spec.Prices = []view.Price{{GPUType: "h200", Milli: 5}}
	want.Spec.Allocations = []view.Allocation{{
		UID: "u", Kind: "Job", Namespace: "a", Name: "b", GPUs: 2, GPUType: "h200", Nodes: []view.Share{{Name: "n", GPUs: 2}},
		Reason: "r", Message: "m", Unblock: "x",
		ETA: &view.ETA{Start: &view.Range{Earliest: &at.Time, Latest: &at.Time}, End: &view.Range{Latest: &at.Time}},
	}}
	if diff := cmp.Diff(want, through[view.Plan](t, from)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	queue := v1alpha1.Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "q"},
		Spec:       v1alpha1.QueueSpec{Mode: v1alpha1.Admit, Namespaces: []v1alpha1.NamespaceShare{{Name: "a"}}, Policy: v1alpha1.PolicyRef{Name: "sia"}},
		Status:     v1alpha1.QueueStatus{Running: 1, Waiting: 2, GPUs: 3, GPUsUsed: 4, Conditions: []metav1.Condition{{Type: v1alpha1.QueueActive, Status: "True", Message: "m"}}},
	}
	q := through[view.Queue](t, queue)
	if c := q.Condition("Active"); c == nil || c.Status != "True" || c.Message != "m" {
		t.Errorf("condition Active: %+v", c)
	}
	if s := q.Status; q.Meta.Name != "q" || q.Spec.Mode != "Admit" || q.Spec.Policy.Name != "sia" || q.Spec.Namespaces[0].Name != "a" ||
		s.Running != 1 || s.Waiting != 2 || s.GPUs != 3 || s.GPUsUsed != 4 {
		t.Errorf("queue %+v", q)
	}
}

// through returns an object as it is read after the API wrote it.
func through[T any](t *testing.T, from any) T {
	t.Helper()
	text, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	var to T
	if err := json.Unmarshal(text, &to); err != nil {
		t.Fatal(err)
	}
	return to
}

// explained returns what Explain says of a job of namespace team.
func explained(t *testing.T, name string) *status.Job {
	t.Helper()
	s, err := (&view.Looker{Kubectl: new(view.Kubectl)}).Explain(t.Context(), "team", name)
	if err != nil {
		t.Fatal(err)
	}
	all := s.All()
	if len(all) != 1 {
		t.Fatalf("%+v, want one job", all)
	}
	return &all[0]
}

// A TrainJob that no plan has, for a mistake in it, is not taken for the JobSet that is made of it.
func TestExplain_finds_the_outer_job(t *testing.T) {
	kubectl(t, `plans.*|pods) echo '{"items": []}' ;;
queues.*) echo '{"items": [{"metadata": {"name": "q"}, "spec": {"mode": "Admit"}}]}' ;;
trainjobs.*) case "$3" in -n) echo '{"items": []}' ;; *) echo '{"metadata": {"name": "a", "namespace": "team", "uid": "1", "labels": {"oxgang.dev/queue": "q"}}, "status": {"conditions": [{"type": "oxgang.dev/Scheduled", "status": "False", "reason": "Misconfigured"}]}}' ;; esac ;;
jobsets.*) echo '{}' ;;
`)
	if j := explained(t, "a"); j.Kind != "TrainJob" || j.Queue != "q" || j.Reason != view.Misconfigured {
		t.Errorf("got %+v, want what is wrong with the TrainJob", j)
	}
}

// A plan that has an older job of the name says nothing of the one that there is, its queue neither.
func TestExplain_of_a_name_that_is_used_again(t *testing.T) {
	kubectl(t, `plans.*) echo '{"items": [{"metadata": {"name": "old"}, "spec": {"round": 7, "allocations": [{"uid": "1", "kind": "Job", "namespace": "team", "name": "a", "gpus": 8}]}}]}' ;;
queues.*|pods) echo '{"items": []}' ;;
jobs.*) case "$3" in -n) echo '{"items": []}' ;; *) echo '{"metadata": {"name": "a", "namespace": "team", "uid": "2", "labels": {"oxgang.dev/queue": "new"}}}' ;; esac ;;
`)
	if j := explained(t, "a"); j.Queue != "new" || j.Plan != nil || j.Phase != "waiting" {
		t.Errorf("got %+v, want a job of queue new that no plan has", j)
	}
}

// A job that has ended since the plan was made does not wait.
func TestLook_leaves_out_what_has_ended(t *testing.T) {
	kubectl(t, `pods|queues.*|nodes) echo '{"items": []}' ;;
plans.*) echo '{"items": [{"spec": {"allocations": [{"uid": "1", "kind": "Job", "namespace": "team", "name": "a", "gpus": 2}, {"uid": "2", "kind": "Job", "namespace": "team", "name": "b"}]}}]}' ;;
jobs.*) echo '{"items": [{"metadata": {"namespace": "team", "name": "a", "uid": "1", "labels": {"oxgang.dev/queue": "q"}}, "status": {"conditions": [{"type": "Complete", "status": "True"}]}},
{"metadata": {"namespace": "team", "name": "b", "uid": "2", "labels": {"oxgang.dev/queue": "q"}}}]}' ;;
`)
	at, err := (&view.Looker{Kubectl: new(view.Kubectl)}).Look(t.Context())
	if err != nil || len(at.Jobs) != 1 || at.Jobs[0].Name != "b" || at.Jobs[0].Phase != "waiting" {
		t.Errorf("%+v, %v, want b alone", at, err)
	}
}

// kubectl puts one into PATH that answers by cases of what is asked for, and else that there is
// nothing.
func kubectl(t *testing.T, cases string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts scripts")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\ncase \"$2\" in\n" + cases + "*) echo 'Error from server (NotFound): none' >&2; exit 1 ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// A mistake comes before quota, quota before a price; of equals the first is told.
func TestDominant(t *testing.T) {
	const priceTooHigh = "PriceTooHigh" // one that nothing comes after
	r := func(name string) view.Reason { return view.Reason{Reason: name} }
	tests := []struct {
		all  []view.Reason
		want string
	}{
		{nil, ""},
		{[]view.Reason{{}, r(priceTooHigh)}, priceTooHigh},
		{[]view.Reason{r(priceTooHigh), r(view.WaitingForQuota)}, view.WaitingForQuota},
		{[]view.Reason{r(priceTooHigh), r(view.WaitingForQuota), r(view.Misconfigured)}, view.Misconfigured},
		{[]view.Reason{r(view.Misconfigured), r(view.WaitingForQuota)}, view.Misconfigured},
		{[]view.Reason{r("Started"), r(priceTooHigh)}, "Started"},
	}
	for _, tc := range tests {
		if got := view.Dominant(tc.all...); got.Reason != tc.want {
			t.Errorf("Dominant(%v) = %q, want %q", tc.all, got.Reason, tc.want)
		}
	}
}

// A plan's jobs are shown as it has them: nothing is known of what runs.
func TestPlan_Status(t *testing.T) {
	var p view.Plan
	p.Meta.Name, p.Spec.Round = "q", 7
	p.Spec.Allocations = []view.Allocation{{Namespace: "a", Name: "x", GPUs: 6, GPUType: "t4", Nodes: []view.Share{{Name: "n2", GPUs: 4}, {Name: "n1", GPUs: 2}}, Reason: "started"}}
	j := p.Status().Jobs[0]
	want := &status.Plan{Round: 7, GPUs: 6, GPUType: "t4", Nodes: []status.Share{{Node: "n2", GPUs: 4}, {Node: "n1", GPUs: 2}}}
	if diff := cmp.Diff(want, j.Plan); diff != "" || !j.Unseen || j.Queue != "q" || j.Reason != "started" {
		t.Errorf("%+v, plan (-want +got):\n%s", j, diff)
	}
}

// What runs of a job is what its pods are, wherever a plan has it: those whose controllers lead to
// it, with all of their GPUs, and no pods that have ended.
func TestExplain_counts_what_is_observed(t *testing.T) {
	const made = `"controller": true, "kind": %q, "name": %q, "uid": %q`
	owned := func(kind, name, uid string) string { return "[{" + fmt.Sprintf(made, kind, name, uid) + "}]" }
	pod := func(owner, node, phase, gpus string) string {
		return fmt.Sprintf(`{"metadata": {"namespace": "team", "ownerReferences": %s}, "spec": {"nodeName": %q, "containers": [{"resources": {"limits": {"amd.com/gpu": %q}}}]}, "status": {"phase": %q}}`, owner, node, gpus, phase)
	}
	ofSet, ofRay := owned("Job", "set-w-0", "j"), owned("RayCluster", "ray-abc12", "c")
	kubectl(t, `clusterpolicies.*) echo '{"spec": {"gpuResource": "amd.com/gpu"}}' ;;
plans.*) echo '{"items": []}' ;;
queues.*) echo '{"items": [{"metadata": {"name": "q"}, "spec": {"mode": "Admit"}}]}' ;;
pods) echo '{"items": [`+strings.Join([]string{
		pod(ofSet, "n2", "Running", "4"), pod(ofSet, "n1", "Running", "4"), pod(ofSet, "n1", "Running", "4"), pod(ofSet, "n3", "Succeeded", "4"), pod(ofSet, "n3", "Running", "0"),
		pod(ofRay, "n4", "Running", "8"), pod(ofRay, "", "Pending", "8"), pod(`[]`, "n5", "Running", "8"),
	}, ",")+`]}' ;;
jobs.batch) case "$3" in -n) echo '{"items": [{"metadata": {"namespace": "team", "name": "set-w-0", "uid": "j", "ownerReferences": `+owned("JobSet", "set", "s")+`}}]}' ;; *) echo 'Error from server (NotFound): none' >&2; exit 1;; esac ;;
jobsets.*) case "$3" in -n) echo '{"items": [{"metadata": {"namespace": "team", "name": "set", "uid": "s"}}]}' ;; set) echo '{"metadata": {"namespace": "team", "name": "set", "uid": "s", "labels": {"oxgang.dev/queue": "q"}}}' ;; *) exit 1;; esac ;;
rayjobs.*) case "$3" in -n) echo '{"items": [{"metadata": {"namespace": "team", "name": "ray", "uid": "r"}}]}' ;; ray) echo '{"metadata": {"namespace": "team", "name": "ray", "uid": "r", "labels": {"oxgang.dev/queue": "q"}}}' ;; *) echo 'Error from server (NotFound): none' >&2; exit 1;; esac ;;
`)
	for name, want := range map[string]status.Job{
		"set": {Pods: 3, Ready: 3, GPUs: 12, Nodes: []status.Share{{Node: "n1", GPUs: 8}, {Node: "n2", GPUs: 4}}},
		"ray": {Pods: 2, Ready: 1, GPUs: 8, Nodes: []status.Share{{Node: "n4", GPUs: 8}}},
	} {
		j := explained(t, name)
		got := status.Job{Pods: j.Pods, Ready: j.Ready, GPUs: j.GPUs, Nodes: j.Nodes}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}

// A job whose queue makes no plans reports that, not the reason of an earlier plan. What keeps it out of all plans
// comes first.
func TestExplain_of_a_queue_that_makes_no_plans(t *testing.T) {
	paused := `"status": {"conditions": [{"type": "Active", "status": "False", "reason": "Paused", "message": "spec.paused"}]}`
	for name, c := range map[string]struct{ queue, reason, want, message string }{
		"paused":        {`"spec": {"mode": "Resize"}, ` + paused, "AsPlanned", "Paused", "queue q makes no plans: spec.paused"},
		"back":          {`"spec": {"mode": "Observe"}`, "NoCapacity", "Observed", "queue q is in mode Observe: plans are not shown; use mode Recommend to show them"},
		"off":           {`"spec": {"mode": "Off"}`, "NoCapacity", "Off", "queue q is off (spec.mode)"},
		"misconfigured": {`"spec": {"mode": "Resize"}, ` + paused, view.Misconfigured, view.Misconfigured, "m"},
		"serving":       {`"spec": {"mode": "Resize"}, "status": {"conditions": [{"type": "Active", "status": "True"}]}`, "AsPlanned", "AsPlanned", "m"},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl(t, fmt.Sprintf(`plans.*|pods) echo '{"items": []}' ;;
queues.*) echo '{"items": [{"metadata": {"name": "q"}, %s}]}' ;;
jobs.*) case "$3" in -n) echo '{"items": []}' ;; *) echo '{"metadata": {"name": "a", "namespace": "team", "uid": "2", "labels": {"oxgang.dev/queue": "q"}}, "status": {"conditions": [{"type": "oxgang.dev/Scheduled", "status": "True", "reason": "%s", "message": "m"}]}}' ;; esac ;;
`, c.queue, c.reason))
			if j := explained(t, "a"); j.Reason != c.want || j.Sentence != c.message {
				t.Errorf("got %s: %s, want %s: %s", j.Reason, j.Sentence, c.want, c.message)
			}
		})
	}
}
