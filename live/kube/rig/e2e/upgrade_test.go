package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// before are the builds that an upgrade begins with, unless OXGANG_BASE names one.
var before = []string{
	"f865f560", // the last whose scheduler had the rights of all modes
	"ad4aa3af", // the last without the policies oxgang-orphans, oxgang-gangs and oxgang-own
}

// TestUpgrade: Helm installs the chart of an earlier build, upgrades it to this one as the guide says, and rolls it
// back, while jobs run, jobs wait and users make more. Two schedulers of a build run, and are replaced one by one.
func TestUpgrade(t *testing.T) {
	long(t, "0 pods restarted, 0 GPUs over-committed")
	all := before
	if base := os.Getenv("OXGANG_BASE"); base != "" {
		all = []string{base}
	}
	for _, base := range all {
		t.Run(base, func(t *testing.T) { upgrades(t, releaseOf(t, base), thisRelease(t)) })
	}
}

func upgrades(t *testing.T, from, to *release) {
	u := newUpgrade(t, from)
	u.changes(to, func() {
		output(t, to.source, filepath.Join(u.Bin, "kubectl"), "--kubeconfig", u.Kubeconfig, "apply", "--server-side", "--force-conflicts", "-f", "deploy/charts/oxgang/crds/")
		helm(t, u.Cluster, append([]string{"upgrade"}, to.chart()...)...)
	})
	u.goesOn("turn", "next", "made-after-upgrade")
	u.changes(from, func() { helm(t, u.Cluster, "rollback", "oxgang") })
	u.goesOn("next", "made-after-upgrade", "made-after-rollback")
	u.judge()
}

// An upgrade is a cluster whose scheduler is replaced.
type upgrade struct {
	*bench
	watcher *audit.Watcher
	pair    []*rig.Process // of which one leads
	made    int            // processes
	uids    map[string]string
}

// newUpgrade installs a release, and lets jobs run under it: one whose template names its node, one with gated pods on two,
// one that is resized in place, one that is to end, and one that waits.
func newUpgrade(t *testing.T, r *release) *upgrade {
	t.Helper()
	c := rig.Start(t, rig.Options{History: true, Nodes: []rig.Nodes{
		{Name: "fixed", Type: "a100", Count: 4, Labels: map[string]string{"pool": "fixed"}},
		{Name: "elastic", Type: "a100", Count: 2, Labels: map[string]string{"pool": "elastic"}},
	}})
	u := &upgrade{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}, uids: map[string]string{}}
	helm(t, c, append([]string{"install", "--create-namespace"}, r.chart()...)...)
	checks := []audit.Check{&audit.Capacity{}, &audit.Pinned{}, &audit.Generations{}, &audit.Plans{}, &audit.Epochs{}, audit.Accounts{}, &audit.Untouched{Namespace: "default"}}
	u.watcher = audit.Follow(c.Etcd(t), audit.New(checks...))
	u.start(r)
	u.start(r)
	u.queue("fixed", "fifo")
	u.queue("elastic", "afs")
	u.awaitRules(u.job("template", "fixed", 1, 8, nil))
	u.create(u.job("gated", "fixed", 2, 8, nil))
	u.create(u.job("turn", "fixed", 1, 8, nil))
	u.create(u.job("elastic", "elastic", 2, 4, map[string]string{
		v1alpha1.MinGPUs: "4", v1alpha1.MaxGPUs: "16", v1alpha1.ResizeBy: string(v1alpha1.InPlace),
	}))
	for job, pods := range map[string]int{"template": 1, "gated": 2, "turn": 1, "elastic": 4} {
		u.runs(job, pods)
	}
	u.create(u.job("next", "fixed", 1, 8, nil))
	for _, job := range []string{"template", "gated", "elastic"} {
		u.uids[job] = u.pods(job)
	}
	return u
}

// queue creates a queue of the nodes of its name.
func (u *upgrade) queue(name, policy string) {
	u.Helper()
	q := Queue(name, v1alpha1.Resize, policy)
	q.Spec.NodeSelector = map[string]string{"pool": name}
	u.create(q)
}

// job returns a job as a user writes it, which runs until it is told to end.
func (u *upgrade) job(name, queue string, workers, gpus int, annotations map[string]string) *batchv1.Job {
	j := Job(name, queue, workers, gpus, annotations)
	j.Spec.Suspend = nil
	return j
}

func (u *upgrade) start(r *release) {
	u.Helper()
	u.made++
	u.pair = append(u.pair, r.serve(u.T, u.Cluster, u.k, fmt.Sprintf("scheduler-%d", u.made)))
}

// changes replaces the objects of a release and then its schedulers, one by one, while users make jobs.
func (u *upgrade) changes(to *release, objects func()) {
	u.Helper()
	began := time.Now()
	ctx, stop := context.WithCancel(u.Context())
	made := make(chan submitted)
	go func() { made <- u.users(ctx) }()
	objects()
	replaced := time.Since(began)
	time.Sleep(5 * time.Second) // the schedulers of the release before under the rules of this one
	for range 2 {
		u.start(to)
		if err := u.pair[0].Terminate(ctx); err != nil {
			u.Fatal(err)
		}
		u.pair = u.pair[1:]
	}
	led := Until(ctx, u, patience, "one of them leads", func() error { return u.leads() })
	stop()
	of := <-made
	u.Logf("to %s: objects replaced after %v, led %v after the last scheduler before ended; of %d jobs that users made meanwhile %d were refused (%v) and %d not suspended",
		to.name, replaced.Round(100*time.Millisecond), led.Round(100*time.Millisecond), of.made, of.refused, of.last, of.unsuspended)
	if of.unsuspended > 0 {
		u.Errorf("%d jobs were not suspended, want all", of.unsuspended)
	}
	u.same()
}

// leads returns nothing if a scheduler that runs holds the lease, and has served the queues.
func (u *upgrade) leads() error {
	var lease coordinationv1.Lease
	if err := u.k.Get(u.Context(), client.ObjectKey{Namespace: "oxgang-system", Name: "oxgang-leader"}, &lease); err != nil {
		return err
	}
	if at := lease.Spec.RenewTime; lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" || at == nil || time.Since(at.Time) > 5*time.Second {
		return errNot("the lease is held by %v since %v", lease.Spec.HolderIdentity, at)
	}
	return nil
}

// What became of jobs that users made.
type submitted struct {
	made, refused, unsuspended int
	last                       error
}

// users make jobs, five a second, by dry run, until ctx is done.
func (u *upgrade) users(ctx context.Context) (of submitted) {
	for ctx.Err() == nil {
		j := u.job(fmt.Sprintf("user-%d", of.made), "fixed", 1, 8, nil)
		of.made++
		switch err := u.k.Create(context.WithoutCancel(ctx), j, client.DryRunAll); {
		case err != nil:
			of.refused, of.last = of.refused+1, err
		case j.Spec.Suspend == nil || !*j.Spec.Suspend:
			of.unsuspended++
		}
		time.Sleep(200 * time.Millisecond)
	}
	return of
}

// goesOn lets a job end: another that waits runs in its place, and a new one waits.
func (u *upgrade) goesOn(ends, runs, waits string) {
	u.Helper()
	u.create(u.job(waits, "fixed", 1, 8, nil))
	finish(u.T, u.Cluster, u.k, ends)
	u.Logf("%s runs %v after %s has ended", runs, u.runs(runs, 1).Round(100*time.Millisecond), ends)
	Until(u.Context(), u, within, waits+" is planned with, and waits", func() error { return u.waits(waits) })
	u.same()
}

// waits returns nothing if the plan has a job that is suspended.
func (u *upgrade) waits(name string) error {
	var j batchv1.Job
	if err := u.k.Get(u.Context(), client.ObjectKey{Namespace: "default", Name: name}, &j); err != nil {
		return err
	}
	for _, c := range j.Status.Conditions {
		if c.Type == v1alpha1.ScheduledCondition && c.Status == corev1.ConditionFalse && *j.Spec.Suspend {
			return nil
		}
	}
	return errNot("suspended %v, %v", *j.Spec.Suspend, j.Status.Conditions)
}

// same fails the test unless the pods of the jobs that run are those that ran at first.
func (u *upgrade) same() {
	u.Helper()
	for job, uids := range u.uids {
		if now := u.pods(job); now != uids {
			u.Errorf("pods of %s are %s, want those that ran before: %s", job, now, uids)
		}
	}
}

// judge fails for what the auditor has found, at any revision.
func (u *upgrade) judge() {
	u.Helper()
	found, err := u.watcher.Stop(u.Context())
	if err != nil {
		u.Fatal(err)
	}
	for _, f := range found {
		u.Error(f)
	}
}
