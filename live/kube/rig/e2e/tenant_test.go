package e2e

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// The namespaces of two tenants, each of whom has the ClusterRole edit in one.
const (
	victims   = "alice"
	attackers = "mallory"
)

// TestTenant: whatever somebody tries who may edit one namespace, jobs of another run on, wait no longer than
// they would, and every GPU of the queue is in an account. The chart is as it comes, with
// admission.denyOutsideQueues; the queue has the limits that bound its users.
func TestTenant(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	a := newAttacker(t, "srtf")
	for i := range attacks {
		t.Run(attacks[i].name, func(t *testing.T) { a.try(t, &attacks[i]) })
	}
	a.runsNext()
	a.judge()
}

// An attacker may edit one namespace. The bench is the administrator's.
type attacker struct {
	*bench
	client    client.Client
	clients   *kubernetes.Clientset
	agents    string // address of the agent API
	scheduler *rig.Process
	watcher   *audit.Watcher
	from      int64        // the revision at which the attacks began
	victim    *batchv1.Job // of another tenant: it runs on two of four nodes
	victimPod *corev1.Pod  // of it
	owned     *corev1.Pod  // of the attacker's job "own", which runs on a third
}

// An attack is what the attacker does.
type attack struct {
	name string
	want string // in the refusal; empty: it is accepted, and comes to nothing
	do   func(*attacker) error
}

// try attacks, and fails the test if a refusal is not as it should be.
func (a *attacker) try(t *testing.T, k *attack) {
	switch err := k.do(a); {
	case k.want == "" && err != nil:
		t.Errorf("refused: %v; want it accepted, and without an effect", err)
	case k.want != "" && err == nil:
		t.Error("accepted, want it refused")
	case k.want != "" && !strings.Contains(err.Error(), k.want):
		t.Errorf("got %v, want %q in it", err, k.want)
	}
}

// newAttacker starts a cluster with the chart, a queue with a policy, two tenants and a job of each.
func newAttacker(t *testing.T, policy string) *attacker {
	t.Helper()
	ctx := t.Context()
	c := rig.Start(t, rig.Options{Nodes: []rig.Nodes{{Type: "a100", Count: 4}}, History: true})
	if err := c.Install(ctx, Root+"/deploy/dist/install.yaml", Root+"/deploy/dist/rights/resize.yaml"); err != nil {
		t.Fatal(err)
	}
	denyOutside(t, c)
	a := &attacker{bench: &bench{T: t, Cluster: c, k: Client(t, c.Config)}, agents: Address(t)}
	config := c.As(attackers)
	a.client, a.clients = Client(t, config), kubernetes.NewForConfigOrDie(config)
	a.tenants(policy)
	checks := []audit.Check{&audit.Capacity{}, &audit.Pinned{}, &audit.Generations{}, &audit.Plans{}, &audit.Epochs{}, &audit.Tenancy{}, audit.Accounts{}, &audit.Untouched{Namespace: victims}}
	a.watcher = audit.Follow(c.Etcd(t), audit.New(checks...))
	a.scheduler = Serve(t, c, Setup{
		Config: c.AsServiceAccount("oxgang-system", "oxgang"), Elects: true, LeaseNamespace: "oxgang-system", Lease: "3s 2s 500ms",
		Agents: a.agents, Names: []string{AgentName},
	})
	a.victim = a.ofTenant(victims, "victim", 2, 8, "1000")
	a.awaitRules(a.victim)
	a.victimPod = a.running(victims, "victim", 2)
	a.create(a.ofTenant(attackers, "own", 1, 8, "1000000"))
	a.owned = a.running(attackers, "own", 1)
	var err error
	if a.from, err = a.watcher.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	return a
}

// denyOutside adds the policy that admission.denyOutsideQueues of the chart switches on.
func denyOutside(t *testing.T, c *rig.Cluster) {
	t.Helper()
	all, err := rig.ReadObjects(Root + "/live/kube/rig/api/testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		if o.GetName() != "oxgang-gpus" {
			continue
		}
		if err := c.Apply(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// tenants makes the namespaces, who may edit them, and two queues: one for both, one for the victims.
func (a *attacker) tenants(policy string) {
	a.Helper()
	for _, who := range []string{victims, attackers} {
		a.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: who}})
		a.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "edit", Namespace: who},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: who}},
		})
	}
	q := Queue("train", v1alpha1.Resize, policy)
	q.Spec.Namespaces = []v1alpha1.NamespaceShare{{Name: victims}, {Name: attackers, MaxJobs: 5}}
	q.Spec.Limits = v1alpha1.JobLimits{MaxGPUs: 16, DenyOptOut: true, DenyNonPreemptible: true, IgnoreDisruptionBudgets: true}
	a.create(q)
	other := Queue("other", v1alpha1.Resize, "fifo")
	other.Spec.Namespaces, other.Spec.NodeSelector = q.Spec.Namespaces[:1], map[string]string{"nobody": "has"}
	a.create(other)
}

// ofTenant returns a job of queue train as a user writes it.
func (a *attacker) ofTenant(namespace, name string, workers, gpus int, seconds string) *batchv1.Job {
	j := Job(name, "train", workers, gpus, map[string]string{v1alpha1.RunSeconds: seconds})
	j.Namespace, j.Spec.Suspend = namespace, nil
	return j
}

func (a *attacker) running(namespace, job string, want int) *corev1.Pod {
	a.Helper()
	var first *corev1.Pod
	Until(a.Context(), a, within, job+" runs", func() error {
		var pods corev1.PodList
		if err := a.k.List(a.Context(), &pods, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: job}); err != nil {
			return err
		}
		n := 0
		for i := range pods.Items {
			if p := &pods.Items[i]; p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				n, first = n+1, p
			}
		}
		if n != want {
			return errNot("%d of %d pods do; %s", n, want, a.state())
		}
		return nil
	})
	return first
}

// runsNext submits another job of the victims to another leader. It has less to do than those of the attacker, so
// it gets their GPUs, whatever these say of themselves, and the accounts agree with what runs.
func (a *attacker) runsNext() {
	a.Helper()
	if err := a.scheduler.Restart(); err != nil {
		a.Fatal(err)
	}
	began := time.Now()
	a.create(a.ofTenant(victims, "next", 2, 8, "900"))
	a.running(victims, "next", 2)
	a.Logf("the victims' next job ran after %v", time.Since(began).Round(100*time.Millisecond))
	Until(a.Context(), a, within, "the accounts of the queue agree with the pods that run", func() error {
		var q v1alpha1.Queue
		if err := a.k.Get(a.Context(), client.ObjectKey{Name: "train"}, &q); err != nil {
			return err
		}
		if _, err := a.watcher.Sync(a.Context()); err != nil {
			return err
		}
		var held, planned int64
		a.watcher.Look(func(of *audit.Auditor) { held, planned = of.State.Holds("train") })
		if held != planned || held != int64(q.Status.GPUsUsed) {
			return errNot("%d GPUs held, %d planned, %d said in the status; %s", held, planned, q.Status.GPUsUsed, a.state())
		}
		return nil
	})
}

// judge fails for what the auditor has found, at any revision.
func (a *attacker) judge() {
	a.Helper()
	found, err := a.watcher.Stop(a.Context())
	if err != nil {
		a.Fatal(err)
	}
	for _, f := range found {
		if f.Revision > a.from {
			a.Error(f)
		}
	}
}
