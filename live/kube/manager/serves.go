package manager

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
)

var (
	// suspends is the kind of the policy that suspends new jobs. Kubernetes before 1.36 lacks it.
	suspends  = schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: "MutatingAdmissionPolicy"}
	workloads = schema.GroupVersionKind{Group: "kueue.x-k8s.io", Kind: "Workload"}
)

func (l *leader) unsupported(mode v1alpha1.Mode) string {
	if mode != v1alpha1.Admit && mode != v1alpha1.Resize || l.serves(suspends) {
		return ""
	}
	return "mode " + string(mode) + " needs Kubernetes 1.36 or later: this API server does not serve " + suspends.GroupVersion().String() +
		" " + suspends.Kind + ", which suspends new jobs. Upgrade it, or use mode Observe or Recommend, which change no jobs"
}

type served struct {
	mu sync.Mutex
	at map[schema.GroupVersionKind]answered
}

type answered struct {
	at  time.Time
	yes bool
}

// A gvk without a version means any version. The result is also true if the API server does not answer.
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
		l.log.Warn("cannot check whether the API server serves a kind; assuming that it does", "kind", gvk.String(), "err", err)
		return true
	}
	if l.served.at == nil {
		l.served.at = make(map[schema.GroupVersionKind]answered)
	}
	l.served.at[gvk] = answered{time.Now(), err == nil}
	return err == nil
}
