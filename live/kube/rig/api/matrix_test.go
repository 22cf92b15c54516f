package api

import "slices"

var (
	writes = []string{"create", "update", "patch", "delete", "deletecollection"}
	reads  = []string{"get", "list", "watch"}
	kinds  = []string{"oxgang.dev/queues", "oxgang.dev/plans", "oxgang.dev/clusterpolicies"}
)

// matrix returns the rights that are tested: of every verb on every kind of ours, and those
// that would do harm.
func matrix() []right {
	all := ours()
	for _, who := range []string{"tenant", "outsider", "viewer", "editor", "admin"} {
		for _, kind := range kinds {
			for _, verb := range []string{"get", "update", "patch"} {
				all = append(all, right{who: who, verb: verb, resource: kind + "/status", want: false})
			}
		}
		all = append(all,
			right{who: who, verb: "create", resource: "authentication.k8s.io/tokenreviews", want: false},
			right{who: who, verb: "patch", resource: "nodes", want: false},
			right{who: who, verb: "patch", resource: "batch/jobs", namespace: "kube-system", want: false},
			right{who: who, verb: "create", resource: "pods/eviction", namespace: "team-a", want: false},
			right{who: who, verb: "patch", resource: "configmaps", namespace: "team-a", name: "oxgang-agents-ca", want: false},
			right{who: who, verb: "update", resource: "coordination.k8s.io/leases", namespace: "oxgang-system", name: "oxgang-leader", want: false},
		)
	}
	return append(all, theScheduler()...)
}

// ours returns who may do what to our kinds: all else is forbidden.
func ours() []right {
	may := map[string]map[string][]string{
		"tenant":   {},
		"outsider": {},
		"viewer":   {kinds[0]: reads, kinds[2]: reads},
		"editor":   {kinds[0]: {"get", "list", "watch", "update", "patch"}, kinds[1]: reads, kinds[2]: reads},
		"admin": {
			kinds[0]: {"get", "list", "watch", "create", "update", "patch", "delete"},
			kinds[1]: {"get", "list", "watch", "delete"},
			kinds[2]: {"get", "list", "watch", "create", "update", "patch", "delete"},
		},
		"scheduler": {kinds[0]: reads, kinds[1]: {"get", "list", "watch", "create", "update"}, kinds[2]: reads},
	}
	var all []right
	for who, allowed := range may {
		for _, kind := range kinds {
			for _, verb := range slices.Concat(reads, writes) {
				all = append(all, right{who: who, verb: verb, resource: kind, want: slices.Contains(allowed[kind], verb)})
			}
		}
	}
	return all
}

// theScheduler returns what the scheduler may do to what is not ours.
func theScheduler() []right {
	var all []right
	add := func(want bool, resource, namespace, name string, verbs ...string) {
		for _, v := range verbs {
			all = append(all, right{"scheduler", v, resource, namespace, name, want})
		}
	}
	for _, kind := range []string{"batch/jobs", "jobset.x-k8s.io/jobsets", "trainer.kubeflow.org/trainjobs", "ray.io/rayjobs"} {
		add(true, kind, "team-a", "j", "get", "list", "watch", "patch")
		add(kind != "ray.io/rayjobs", kind+"/status", "team-a", "j", "patch") // a RayJob has no conditions
		add(false, kind, "team-a", "j", "create", "update", "delete", "deletecollection")
	}
	add(true, "pods", "team-a", "p", "get", "list", "watch", "patch")
	add(false, "pods", "team-a", "p", "create", "update", "delete", "deletecollection")
	add(true, "pods/resize", "team-a", "p", "patch")
	add(false, "pods/resize", "team-a", "p", "update", "create")
	add(true, "pods/eviction", "team-a", "p", "create")
	add(false, "pods/exec", "team-a", "p", "create", "get")
	add(false, "pods/binding", "team-a", "p", "create")
	add(false, "pods/ephemeralcontainers", "team-a", "p", "patch")
	add(false, "pods/status", "team-a", "p", "patch", "update")
	add(true, "nodes", "", "n", "get", "list", "watch", "patch")
	add(false, "nodes", "", "n", "create", "update", "delete")
	add(false, "nodes/status", "", "n", "patch", "update")
	for _, scaled := range []string{"karpenter.sh/nodepools", "cluster.x-k8s.io/machinedeployments"} { // unless rbac.nodeGroups says so
		add(false, scaled+"/scale", "team-a", "p", "get", "patch", "update")
		add(false, scaled, "team-a", "p", slices.Concat(reads, writes)...)
	}
	add(true, "scheduling.k8s.io/priorityclasses", "", "c", reads...)
	add(false, "scheduling.k8s.io/priorityclasses", "", "c", writes...)
	add(false, "secrets", "team-a", "s", slices.Concat(reads, writes)...)
	add(false, "secrets", "oxgang-system", "s", slices.Concat(reads, writes)...)
	add(true, "configmaps", "team-a", "oxgang-agents-ca", "get", "create", "patch")
	add(false, "configmaps", "team-a", "other", slices.Concat(reads, writes)...)
	add(false, "configmaps", "team-a", "", "list", "watch", "create")
	add(true, "authentication.k8s.io/tokenreviews", "", "", "create")
	add(true, "authorization.k8s.io/subjectaccessreviews", "", "", "create")
	add(true, "coordination.k8s.io/leases", "oxgang-system", "oxgang-leader", "get", "update", "patch")
	add(true, "coordination.k8s.io/leases", "oxgang-system", "", "create")
	add(false, "coordination.k8s.io/leases", "oxgang-system", "other", "get", "update", "delete")
	add(false, "coordination.k8s.io/leases", "kube-system", "kube-scheduler", "get", "update", "patch")
	add(false, "serviceaccounts/token", "team-a", "default", "create")
	add(false, "rbac.authorization.k8s.io/clusterroles", "", "x", writes...)
	add(false, "admissionregistration.k8s.io/validatingadmissionpolicies", "", "oxgang-epoch", writes...)
	add(false, "users", "", "x", "impersonate")
	add(true, "oxgang.dev/plans/status", "", "x", "update")
	add(true, "oxgang.dev/queues/status", "", "x", "patch")
	add(true, "oxgang.dev/clusterpolicies/status", "", "x", "patch")
	add(false, "oxgang.dev/queues/status", "", "x", "update")
	return all
}
