package manager

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

// Kinds that a cluster may lack.
var (
	// suspends is the kind of the policy that suspends new jobs: versions before 1.36 do not serve it.
	suspends = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy"}
	// workloads is what Kueue keeps of jobs, in any version.
	workloads = schema.GroupVersionKind{Group: "kueue.x-k8s.io", Kind: "Workload"}
)

// unsupported returns why an API server cannot do what a queue of a mode needs; empty: it can. Without
// the policy that suspends them new jobs would run before they are planned.
func (l *leader) unsupported(mode v1alpha1.Mode) string {
	if mode != v1alpha1.Admit && mode != v1alpha1.Resize || l.serves(suspends) {
		return ""
	}
	return "mode " + string(mode) + " needs Kubernetes 1.36 or later: this API server does not serve " + suspends.GroupVersion().String() +
		" " + suspends.Kind + ", which suspends new jobs. Upgrade it, or stay in mode Observe or Recommend, in which no job is touched"
}

// served is what the API server said that it serves.
type served struct {
	mu sync.Mutex
	at map[schema.GroupVersionKind]answered
}

// An answered is an answer, and when it was given.
type answered struct {
	at  time.Time
	yes bool
}

// serves reports whether the API server serves a kind; without a version, in any. It is asked again
// after fresh. If it does not answer, serves returns true: a queue that is served goes on.
func (l *leader) serves(gvk schema.GroupVersionKind) bool {
	l.served.mu.Lock()
	defer l.served.mu.Unlock()
	if a, known := l.served.at[gvk]; known && time.Since(a.at) < fresh {
		return a.yes
	}
	var versions []string
	if gvk.Version != "" {
		versions = []string{gvk.Version}
	}
	_, err := l.manager.GetRESTMapper().RESTMapping(gvk.GroupKind(), versions...)
	if err != nil && !meta.IsNoMatchError(err) {
		l.log.Warn("cannot ask what the API server serves, so it does", "kind", gvk.String(), "err", err)
		return true
	}
	if l.served.at == nil {
		l.served.at = make(map[schema.GroupVersionKind]answered)
	}
	l.served.at[gvk] = answered{time.Now(), err == nil}
	return err == nil
}
