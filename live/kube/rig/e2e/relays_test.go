package e2e

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// A relay is a queue that one scheduler hands on to another.
type relay struct {
	*history
	first, second *fault.Proxy
	bugs          string // of the second
	running       []*rig.Process
}

func (b *bench) relay(t *testing.T, bugs string) *relay {
	queue := strings.ToLower(strings.NewReplacer("TestRelay_", "", "with_pieces_missing/", "", "_", "-", ",", "").Replace(t.Name()))
	r := &relay{history: b.follow(t, queue), bugs: bugs}
	t.Cleanup(func() { r.remove(queue) })
	r.free()
	r.first, r.second = r.proxy(b.us()), r.proxy(b.us())
	return r
}

// run plays a scene, and fails unless the auditor finds what is wanted, and no more.
func (r *relay) run(play func(*relay), want string) {
	defer func() {
		for _, p := range r.running {
			if err := p.Kill(); err != nil {
				r.Error(err)
			}
		}
	}()
	play(r)
	if want != "" {
		r.until(want+" to be found", func(a *audit.Auditor) bool { return checks(r.since(a.Findings)) == want })
	}
	found := r.findings()
	if got := checks(found); got != want {
		r.Fatalf("the auditor found %q, want %q:%s", got, want, lines(found))
	}
	r.Logf("found: %q%s", want, lines(found))
}

// lead starts a scheduler that waits to lead.
func (r *relay) lead(name string, p *fault.Proxy, bugs string) *rig.Process {
	r.Helper()
	s := Serve(r, r.Cluster, Setup{Elects: true, Lease: "6s 5s 500ms", Name: r.queue + "-" + name, Config: p.Config(), Bugs: bugs})
	r.running = append(r.running, s)
	return s
}

// next starts the second scheduler.
func (r *relay) next() *rig.Process { return r.lead("second", r.second, r.bugs) }

// submit creates a job of one worker with 8 GPUs of a type, whose pods take an hour to end. With
// srtf the one that runs for less time comes first.
func (r *relay) submit(name, gpu string, seconds int, more map[string]string) {
	r.Helper()
	says := map[string]string{v1alpha1.GPUTypes: gpu, v1alpha1.RunSeconds: strconv.Itoa(seconds), v1alpha1.ResizeBy: gated}
	maps.Copy(says, more)
	j := Job(name, r.queue, 1, 8, says)
	j.Spec.Template.Annotations = map[string]string{rig.StopAfter: "1h"}
	r.create(j)
}

// has returns a pod of a job that is so; nil: there is none.
func (r *relay) has(a *audit.Auditor, job string, so func(*corev1.Pod) bool) *corev1.Pod {
	for p := range a.State.Pods() {
		if p.Labels[batchv1.JobNameLabel] == job && so(p) {
			return p
		}
	}
	return nil
}

func (r *relay) pod(job string, so func(*corev1.Pod) bool) (p *corev1.Pod) {
	r.Helper()
	r.until("a pod of "+job, func(a *audit.Auditor) bool {
		p = r.has(a, job, so)
		return p != nil
	})
	return p
}

// runs reports whether a pod runs and is to go on.
func runs(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
}

// halted returns the first leader, halted with the write in hand that sends the pod of job long
// to its node.
func (r *relay) halted() (leader *rig.Process, pin *hold) {
	r.Helper()
	pin = newHold(fault.Match{Verb: "patch", Resource: "pods"})
	r.Cleanup(pin.release)
	r.first.Hook(pin.ask)
	leader = r.lead("first", r.first, "")
	r.create(Queue(r.queue, v1alpha1.Resize, "srtf"))
	r.submit("long", "a100", 1000000, nil)
	r.wait("a pod goes to its node", pin.caught)
	r.halts(leader)
	return leader, pin
}

// acts waits until the second leader has started a job, or has seen three times that its
// watches are late: it asks the API server itself then.
func (r *relay) acts(job string) {
	r.Helper()
	list := fault.Match{Verb: "list", Resource: "pods"}
	asked := r.second.Asked(list)
	Until(r.Context(), r, patience, "the next leader acts, or waits", func() error {
		started := false
		r.watcher.Look(func(a *audit.Auditor) { started = r.has(a, job, func(*corev1.Pod) bool { return true }) != nil })
		if n := r.second.Asked(list) - asked; !started && n < 3 {
			return errNot("%s has no pod, and the pods were asked for %d times", job, n)
		}
		return nil
	})
}

// passes waits until the leader has looked at everything that is there now: it has brought
// another job to run elsewhere.
func (r *relay) passes() {
	r.Helper()
	r.submit("elsewhere", "h100", 1, nil)
	r.pod("elsewhere", runs)
}

func (r *relay) ends(p *corev1.Pod) {
	r.Helper()
	if err := r.k.Delete(r.Context(), p.DeepCopy(), client.GracePeriodSeconds(0)); err != nil {
		r.Fatal(err)
	}
}

// gone lets a leader that was halted go on: it finds that it leads no more, and ends.
func (r *relay) gone(p *rig.Process) {
	r.Helper()
	if err := p.Cont(); err != nil {
		r.Fatal(err)
	}
	r.wait("a leader that was halted ends", p.Done())
}

// halts halts a leader.
func (r *relay) halts(p *rig.Process) {
	r.Helper()
	if err := p.Stop(); err != nil {
		r.Fatal(err)
	}
}

// wakes lets a leader that was halted go on until it ends, and fails if a plan, a job or a pod
// is still written by it.
func (r *relay) wakes(p *rig.Process, through *fault.Proxy) {
	r.Helper()
	before := len(through.Calls())
	r.gone(p)
	through.Idle()
	for _, c := range through.Calls()[before:] {
		r.Logf("after it was halted: %s is answered %d", c.String(), c.Code)
		fenced := c.Resource == "plans.oxgang.dev" || c.Resource == "jobs.batch" || c.Resource == "pods"
		if fenced && c.Subresource == "" && c.Code < http.StatusMultipleChoices && c.Code > 0 {
			r.Errorf("%s of a term that is over is answered %d, want that it is refused", c.String(), c.Code)
		}
	}
}
