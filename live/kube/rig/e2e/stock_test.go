package e2e

import (
	"path/filepath"
	"strconv"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
	"github.com/oxgang/oxgang/live/kube/rig/fault"
)

// proxy returns a fault proxy that speaks as a client does.
func (b *bench) proxy(as *rest.Config) *fault.Proxy {
	b.Helper()
	p, err := fault.New(as)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	return p
}

// stock starts a kube-scheduler behind a proxy, with a lease of 3 s.
func (b *bench) stock(name string, p *fault.Proxy) *rig.Process {
	b.Helper()
	kubeconfig, err := b.WriteKubeconfig(name, p.Config())
	if err != nil {
		b.Fatal(err)
	}
	port, err := rig.FreePort()
	if err != nil {
		b.Fatal(err)
	}
	s, err := b.Cluster.Run(name, filepath.Join(b.Bin, rig.Scheduler), nil,
		"--kubeconfig", kubeconfig, "--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port), "--authentication-skip-lookup",
		"--leader-elect", "--leader-elect-lease-duration", "3s", "--leader-elect-renew-deadline", "2900ms", "--leader-elect-retry-period", "300ms")
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (b *bench) free() {
	b.Helper()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "oxgang-leader"}}
	if err := client.IgnoreNotFound(b.k.Delete(b.Context(), l)); err != nil {
		b.Fatal(err)
	}
}

// holder returns who holds a lease of namespace kube-system; empty: nobody.
func holder(a *audit.Auditor, lease string) string {
	o := a.State.Get(audit.Key{Resource: "leases", Namespace: "kube-system", Name: lease})
	if o == nil {
		return ""
	}
	if h := o.Value.(*coordinationv1.Lease).Spec.HolderIdentity; h != nil {
		return *h
	}
	return ""
}
