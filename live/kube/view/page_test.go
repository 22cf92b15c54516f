package view

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A fake is an API that a kubectl plays: a file for each kind, kind.all for what a list of all namespaces has, and the file no-KIND or no-KIND.all
// where the user may not list it.
type fake struct {
	t   *testing.T
	dir string
}

const script = `#!/bin/sh
cd "$FAKE"
echo "$*" >> calls
if [ "$1" = delete ]; then
	cat > deleted
	[ -f no-delete ] || exit 0
	echo 'Error from server (Forbidden): jobs.batch "later" is forbidden: User "amy" cannot delete resource "jobs"' >&2
	exit 1
fi
[ "$1" = logs ] && { [ -f no-logs ] && { echo 'Error from server (Forbidden): pods "r-0" is forbidden: User "amy" cannot get resource "pods/log"' >&2; exit 1; }; cat logs; exit; }
[ "$1" = auth ] && { [ -f "may-$3" ] && echo yes && exit 0; echo no; exit 1; }
if [ "$1" = patch ]; then
	[ -f no-patch ] && { echo 'Error from server (Forbidden): configmaps "oxgang-question" is forbidden' >&2; exit 1; }
	echo "$*" > asked
	id=$(sed 's/.*\\"id\\":\\"\([^\\]*\).*/\1/' asked)
	sed "s/ASKED/$id/" reply > configmap
	exit 0
fi
[ -f down ] && { echo 'The connection to the server was refused' >&2; exit 1; }
f=$2
case " $* " in *" -A "*) [ -f "$f.all" ] || [ -f "no-$f.all" ] && f=$f.all;; esac
[ -f "no-$f" ] && { echo "Error from server (Forbidden): $2 is forbidden: User \"amy\" cannot list resource" >&2; exit 1; }
[ -f "$f" ] || { echo "error: the server doesn't have a resource type \"$2\"" >&2; exit 1; }
cat "$f"
`

func newFake(t *testing.T) *fake {
	t.Helper()
	if testing.Short() {
		t.Skip("starts scripts")
	}
	f := &fake{t, t.TempDir()}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "kubectl"), []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("FAKE", f.dir)
	for kind, items := range objects {
		f.has(kind, items)
	}
	return f
}

// has sets the objects of a kind.
func (f *fake) has(kind, items string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, kind), []byte(`{"items": [`+items+`]}`), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) forbids(kinds ...string) {
	for _, kind := range kinds {
		f.has("no-"+kind, "")
	}
}

func (f *fake) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(f.dir, name)) // there may be none
	return string(text)
}

// objects: there are two nodes of one queue and a cordoned one of another; the job "runs" runs, "later" waits with a plan, "new" with none, one has ended, and a
// pod of nobody's queue has a GPU. The plan has a job that is gone.
var objects = map[string]string{
	"queues.oxgang.dev": `{"metadata": {"name": "training", "creationTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"mode": "Resize", "nodeSelector": {"nvidia.com/gpu.product": "H200"}, "policy": {"name": "sia"}},
	"status": {"conditions": [{"type": "Active", "status": "True"}]}},
	{"metadata": {"name": "dev", "creationTimestamp": "2026-01-02T00:00:00Z"}, "spec": {"mode": "Recommend", "nodeSelector": {"nvidia.com/gpu.product": "T4"}, "policy": {"name": "fifo"}},
	"status": {"conditions": [{"type": "Active", "status": "False", "message": "its policy has gone"}]}}`,
	"plans.oxgang.dev": `{"metadata": {"name": "training"}, "spec": {"round": 41, "time": "2026-11-22T06:20:00Z", "policy": "sia", "prices": [{"gpuType": "h200", "milli": 1250}], "allocations": [
	{"uid": "1", "kind": "Job", "namespace": "research", "name": "runs", "gpus": 6, "gpuType": "h200", "nodes": [{"name": "gpu-a", "gpus": 4}, {"name": "gpu-b", "gpus": 2}], "reason": "started", "message": "there is room for it",
	"eta": {"end": {"earliest": "2100-01-01T00:00:00Z", "likely": "2100-01-01T01:00:00Z", "latest": "2100-01-01T02:00:00Z"}}},
	{"uid": "2", "kind": "Job", "namespace": "research", "name": "later", "gpus": 0, "reason": "waiting: price too high", "message": "others gain 1.04 times as much", "unblock": "it would get 4 GPUs if it asked for 4",
	"eta": {"start": {"earliest": "2100-01-01T00:00:00Z", "latest": "2100-01-01T02:00:00Z"}, "end": {"earliest": "2001-01-01T00:00:00Z", "likely": "2001-01-01T01:00:00Z", "latest": "2001-01-01T02:00:00Z"}}},
	{"uid": "3", "kind": "Job", "namespace": "research", "name": "gone", "gpus": 2, "reason": "started"}, {"uid": "5", "kind": "Job", "namespace": "research", "name": "old", "gpus": 2, "reason": "started"}]}}`,
	"nodes": `{"metadata": {"name": "gpu-a", "labels": {"nvidia.com/gpu.product": "H200"}}, "status": {"allocatable": {"nvidia.com/gpu": "4"}}},
	{"metadata": {"name": "gpu-b", "labels": {"nvidia.com/gpu.product": "H200"}}, "status": {"allocatable": {"nvidia.com/gpu": "8"}}},
	{"metadata": {"name": "gpu-c", "labels": {"nvidia.com/gpu.product": "T4"}}, "spec": {"unschedulable": true}, "status": {"allocatable": {"nvidia.com/gpu": "4"}}}`,
	"pods":     ofResearch,
	"pods.all": ofResearch + `, {"metadata": {"namespace": "secret", "name": "nb"}, "spec": {"nodeName": "gpu-b", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}, "status": {"phase": "Running"}}`,
	"jobs.batch": `{"apiVersion": "batch/v1", "metadata": {"namespace": "research", "name": "runs", "uid": "1", "creationTimestamp": "2026-11-22T05:00:00Z", "labels": {"oxgang.dev/queue": "training"}, "annotations": {"oxgang.dev/min-gpus": "2", "oxgang.dev/max-gpus": "8"}}},
	{"apiVersion": "batch/v1", "metadata": {"namespace": "research", "name": "later", "uid": "2", "creationTimestamp": "2026-11-22T06:00:00Z", "labels": {"oxgang.dev/queue": "training"}},
	"spec": {"suspend": true, "parallelism": 2, "template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}}},
	{"apiVersion": "batch/v1", "metadata": {"namespace": "research", "name": "new", "uid": "4", "creationTimestamp": "2026-11-22T06:30:00Z", "labels": {"oxgang.dev/queue": "training"}}, "spec": {"suspend": true}},
	{"apiVersion": "batch/v1", "metadata": {"namespace": "research", "name": "old", "uid": "5", "labels": {"oxgang.dev/queue": "training"}}, "status": {"conditions": [{"type": "Failed", "status": "True", "message": "out of memory", "lastTransitionTime": "2026-11-22T06:10:00Z"}]}}`,
}

const ofResearch = `{"metadata": {"namespace": "research", "name": "r-0", "creationTimestamp": "2026-11-22T05:10:00Z", "ownerReferences": [{"controller": true, "kind": "Job", "name": "runs", "uid": "1"}]},
	"spec": {"nodeName": "gpu-a", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]}, "status": {"phase": "Running"}},
	{"metadata": {"namespace": "research", "name": "r-1", "creationTimestamp": "2026-11-22T05:20:00Z", "ownerReferences": [{"controller": true, "kind": "Job", "name": "runs", "uid": "1"}]},
	"spec": {"nodeName": "gpu-b", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}, "status": {"phase": "Pending"}}`

// opened returns the Source of a fake API, after a look.
func opened(t *testing.T, l *Looker) (*Page, *page.Overview) {
	t.Helper()
	c := NewPage(l, "rig")
	if err := c.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, shown(t, c)
}

func shown(t *testing.T, c *Page) *page.Overview {
	t.Helper()
	o, err := c.Overview(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func jobs(o *page.Overview) map[job.ID]status.Job {
	all := make(map[job.ID]status.Job)
	for _, j := range o.Jobs {
		all[j.ID] = j
	}
	return all
}

// Who may see all is shown all: what runs where, who waits and why, what is idle, when what is expected; and nothing that neither the objects nor the plan say.
func TestPage(t *testing.T) {
	f := newFake(t)
	_, o := opened(t, &Looker{Kubectl: new(Kubectl)})
	all := jobs(o)
	if len(all) != 3 {
		t.Errorf("%d jobs, want runs, later and new", len(all))
	}
	if r := all["research/runs"]; r.GPUs != 6 || len(r.Nodes) != 2 || r.Phase != "starting" || r.Asked != "2 to 8 GPUs" || r.End.Probability != 0.8 || r.End.Likely.IsZero() || r.Start.Known() ||
		r.Sentence != "there is room for it" || !r.Since.Equal(time.Date(2026, 11, 22, 5, 20, 0, 0, time.UTC)) {
		t.Errorf("runs: %+v", r)
	}
	if l := all["research/later"]; l.Holds() || l.Phase != "waiting" || l.Asked != "8 GPUs" || l.Sentence != "others gain 1.04 times as much" || !l.Start.Likely.IsZero() || l.Start.Late.IsZero() || !strings.Contains(l.End.Unknown, "2001-01-01 02:00") {
		t.Errorf("later: %+v, want no time that the plan does not have, or has in the past", l)
	}
	if n := all["research/new"]; n.Sentence != "not in a plan yet" || n.Start.Known() || n.End.Known() || n.Asked != "see its Job" {
		t.Errorf("new: %+v", n)
	}
	if len(o.GPUs) != 2 || o.GPUs[0] != (status.GPUs{Queue: "training", Type: "h200", Total: 12, Held: 7}) || o.Queues[0].Prices[0].Price != 1.25 || o.GPUs[1] != (status.GPUs{Queue: "dev", Type: "t4", Total: 4, Unusable: 4}) {
		t.Errorf("types %+v, want 5 of 12 free, and none on a cordoned node", o.GPUs)
	}
	if b := o.Nodes[1]; len(o.Nodes) != 3 || len(b.Held) != 2 || b.Held[0] != (status.Holder{Job: "research/runs", GPUs: 2}) || b.Held[1] != (status.Holder{Job: "secret/nb", GPUs: 1}) || o.Nodes[2].Closed != "cordoned" {
		t.Errorf("nodes %+v", o.Nodes)
	}
	if len(o.Ended) != 1 || o.Ended[0].ID != "research/old" || o.Ended[0].Outcome != "failed" || o.Ended[0].Detail != "out of memory" {
		t.Errorf("ended %+v", o.Ended)
	}
	if strings.Join(o.Attention, "; ") != "queue dev: its policy has gone" || len(o.Notes) != 0 || !strings.Contains(o.Policy, "sia (queue training, mode Resize, round 41 of 2026-11-22 06:20:00 UTC)") {
		t.Errorf("banner %q, notes %q, policy %q", o.Attention, o.Notes, o.Policy)
	}
	if strings.Contains(f.read("calls"), "delete") {
		t.Errorf("calls %s", f.read("calls"))
	}
}

// Who may see one namespace alone is shown that, and told what is not known.
func TestPage_of_a_tenant(t *testing.T) {
	f := newFake(t)
	f.forbids("pods.all", "nodes", "plans.oxgang.dev", "queues.oxgang.dev", "clusterpolicies.oxgang.dev")
	_, o := opened(t, &Looker{Kubectl: new(Kubectl), Fallback: "research"})
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "secret") || len(o.GPUs) != 0 || len(o.Jobs) != 3 || len(o.Nodes) != 2 || o.Nodes[1].Used != 2 {
		t.Errorf("the page of a tenant has %s", text)
	}
	if l := jobs(o)["research/later"]; l.Sentence != "it has no published reason, and you may not list plans" || l.Start.Known() || l.End.Known() {
		t.Errorf("later: %+v", l)
	}
	notes := strings.Join(o.Notes, " ")
	for _, want := range []string{"queues", "plans", "only namespace research is shown, so idle GPUs are not known"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q, want %q in them", notes, want)
		}
	}
	if calls := f.read("calls"); !strings.Contains(calls, "get pods -n research") || strings.Contains(calls, "get jobs.batch -A") || strings.Contains(calls, "get nodes") {
		t.Errorf("asked for %s", calls)
	}
}

// Who asks for one namespace is not told that GPUs are idle which others may hold, though he may see the nodes.
func TestPage_of_one_namespace(t *testing.T) {
	newFake(t)
	_, o := opened(t, &Looker{Kubectl: new(Kubectl), Namespace: "research"})
	if len(o.GPUs) != 0 || len(o.Nodes) != 2 || o.Nodes[0].Used != 4 || !strings.HasPrefix(strings.Join(o.Notes, " "), "Only namespace research is shown, so idle GPUs are not known.") {
		t.Errorf("types %+v, nodes %+v, notes %q", o.GPUs, o.Nodes, o.Notes)
	}
}

// Without a namespace to fall back to, it is an error that neither pods nor plans may be listed; so it is in a namespace.
func TestPage_forbidden(t *testing.T) {
	newFake(t).forbids("pods", "pods.all", "plans.oxgang.dev")
	for _, l := range []*Looker{{Kubectl: new(Kubectl)}, {Kubectl: new(Kubectl), Fallback: "research"}, {Kubectl: new(Kubectl), Namespace: "research"}} {
		if err := NewPage(l, "").Look(t.Context()); !errors.Is(err, ErrForbidden) {
			t.Errorf("%+v: %v, want that it is not permitted", l, err)
		}
	}
}

// The page says since when the cluster does not answer, shows what was seen last, and asks not again for kinds that the cluster does not have.
func TestPage_down(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	if err := c.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := f.read("calls"); strings.Count(calls, "get jobsets") != 1 || strings.Count(calls, "get jobs.batch") != 2 {
		t.Errorf("asked for %s", calls)
	}
	f.has("down", "")
	if err := c.Look(t.Context()); err == nil {
		t.Error("no error of an API that is down")
	}
	if o := shown(t, c); len(o.Jobs) != 3 || !strings.HasPrefix(o.Stale, "rig does not answer: ") {
		t.Errorf("%d jobs, banner %q", len(o.Jobs), o.Stale)
	}
	if s, err := c.Series(t.Context()); err != nil || len(s.At) != 2 || s.At[0] != 0 || s.At[1] > journal.Seconds(time.Minute) || s.GPUs[1] != 12 || s.Held[1] != 7 || s.Waiting[1] != 2 || s.Running[1] != 1 {
		t.Errorf("series %+v, %v, want two looks", s, err)
	}
}

// The page of a job has what the plan says of it, and its life from the first look on.
func TestPage_job(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	f.has("pods.all", strings.Split(ofResearch, "\n")[0]+strings.TrimSuffix(strings.Split(ofResearch, "\n")[1], ","))
	if err := c.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	j, err := c.Job(t.Context(), "research/runs", 0)
	if err != nil || len(j.Life.Changes) != 2 || j.Life.Changes[0].What != explain.Started || j.Life.Changes[0].To.GPUs != 6 || j.Life.Changes[1].What != explain.Shrunk || j.Life.Changes[1].Text != "4 h200 GPUs instead of 6 h200 GPUs on 2 nodes" {
		t.Errorf("%+v, %v", j.Life, err)
	}
	j, err = c.Job(t.Context(), "research/later", 0)
	if err != nil || j.Job.Unblock != "it would get 4 GPUs if it asked for 4" || j.Life.Changes[0].Text != "submitted, asking for 8 GPUs" {
		t.Errorf("%+v, %v", j.Job, err)
	}
	if j, err := c.Job(t.Context(), "research/old", 0); err != nil || j.Job.Detail != "out of memory" {
		t.Errorf("a job that failed: %+v, %v", j, err)
	}
	for _, id := range []job.ID{"research/gone", "secret/nb"} {
		if _, err := c.Job(t.Context(), id, 0); !errors.Is(err, page.ErrUnknown) {
			t.Errorf("%s: %v, want that it is not known", id, err)
		}
	}
}

// A job is cancelled by deleting the object that was seen, and no other of its name; the API server may refuse it.
func TestPage_cancel(t *testing.T) {
	f := newFake(t)
	c, _ := opened(t, &Looker{Kubectl: new(Kubectl)})
	if err := c.Cancel(t.Context(), "research/later"); err != nil {
		t.Fatal(err)
	}
	if calls := f.read("calls"); !strings.HasSuffix(calls, "delete --raw /apis/batch/v1/namespaces/research/jobs/later -f -\n") || !strings.Contains(f.read("deleted"), `"preconditions":{"uid":"2"}`) {
		t.Errorf("%s %s", calls, f.read("deleted"))
	}
	f.has("no-delete", "")
	var refused *page.RefusedError
	if err := c.Cancel(t.Context(), "research/later"); !errors.As(err, &refused) || !strings.Contains(refused.Text, "cannot delete") {
		t.Errorf("%v, want that the API server refuses it", err)
	}
	if err := c.Cancel(t.Context(), "secret/nb"); !errors.Is(err, page.ErrUnknown) {
		t.Errorf("%v, want that a pod of no queue's job is not deleted", err)
	}
}

// The page states since when the scheduler has been silent if its lease is old, and nothing of a fresh lease or of none. Who may not read it is told so.
func TestLook_silent_scheduler(t *testing.T) {
	f := newFake(t)
	const lease = "leases.coordination.k8s.io.all"
	renewed := func(ago time.Duration) (time.Time, string) {
		at := time.Now().Add(-ago).UTC().Truncate(time.Microsecond)
		return at, `{"spec": {"holderIdentity": "a", "leaseDurationSeconds": 8, "renewTime": "` + at.Format(time.RFC3339Nano) + `"}}`
	}
	_, o := opened(t, &Looker{Kubectl: new(Kubectl)})
	if !o.SilentSince.IsZero() || len(o.Notes) > 0 {
		t.Errorf("without a lease: silent since %v, notes %q", o.SilentSince, o.Notes)
	}
	_, fresh := renewed(30 * time.Second)
	f.has(lease, fresh)
	if _, o = opened(t, &Looker{Kubectl: new(Kubectl)}); !o.SilentSince.IsZero() || strings.Contains(strings.Join(o.Warnings(), " "), "scheduler") {
		t.Errorf("with a fresh lease: silent since %v, %q", o.SilentSince, o.Warnings())
	}
	at, old := renewed(5 * time.Minute)
	f.has(lease, old)
	if _, o = opened(t, &Looker{Kubectl: new(Kubectl)}); !o.SilentSince.Equal(at) || !strings.HasPrefix(o.Warnings()[0], "the scheduler has not answered since "+at.Local().Format("15:04")) {
		t.Errorf("with an old lease: silent since %v, %q, want %v", o.SilentSince, o.Warnings(), at)
	}
	if asked := f.read("calls"); !strings.Contains(asked, "get leases.coordination.k8s.io -A --field-selector metadata.name=oxgang-leader") {
		t.Errorf("asked %s", asked)
	}
	f.has(lease, old+", "+fresh) // another release has a live scheduler
	if _, o = opened(t, &Looker{Kubectl: new(Kubectl)}); !o.SilentSince.IsZero() {
		t.Errorf("of two leases the older counts: %v", o.SilentSince)
	}
	f.forbids(lease)
	if _, o = opened(t, &Looker{Kubectl: new(Kubectl)}); !o.SilentSince.IsZero() || !strings.Contains(strings.Join(o.Notes, " "), "whether the scheduler answers is not known") {
		t.Errorf("forbidden: silent since %v, notes %q", o.SilentSince, o.Notes)
	}
}
